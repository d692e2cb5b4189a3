/* SPDX-License-Identifier: BSD-3-Clause */
/* figures.h - what every rank of a team knows, and knows alike. Ranks that choose a plan must all
 * choose the same one, and ask nobody. So whatever decides (an algorithm's `can` and `cost`, the
 * planner) is given these figures and not the team: it cannot look at what only one rank knows. */
#ifndef MORTAR_FIGURES_H
#define MORTAR_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct network_facts;
struct places;

/* Where a team's ranks are, and where an algorithm runs. */
enum where {
    ON_NODE,     /* on one node, in shared memory */
    BY_MESSAGES, /* one rank on each node: a lane. Its algorithms run on teams OVER_NODES, too */
    OVER_NODES,  /* several nodes, with several ranks on some of them */
};

/* What messages between nodes cost, in seconds: network_usual, or what a tuning file says
 * (plan_network). */
struct network {
    /* Of a short message: on its way; of the rank that sends, and of the one that receives. */
    double latency, overhead;
    double byte, node_byte; /* each byte: of one rank's messages, of all ranks' of a node */
    double gap;             /* from one short message to the next, of all ranks of a node */
    /* What bytes take longer, as a share, when all nodes send: each to one other, to very many at
     * once. */
    double one, many;
    bool measured;
};

struct figures {
    enum where where;
    int p;            /* ranks */
    int nodes;        /* that they sit on */
    int most, fewest; /* ranks on the fullest node, and on the emptiest */
    bool in_order;    /* the ranks of each node follow each other */
    uint32_t domains; /* of memory, that the ranks sit in; over several nodes 1 */
    int processors;   /* of a node, for its ranks; 0: not known */
    /* One barrier of a node, in seconds: as rank 0 measured it; and what it usually takes among so
     * many ranks. What combines is chosen by the latter: a plan sets the brackets, and the last
     * digits of a sum must not depend on the clock. */
    double sync_seconds, usual_sync_seconds;
    size_t l2_bytes, l3_bytes; /* of one L2 and of all L3 of rank 0's node; 0: not known */
    bool shares;               /* every rank has a region that its peers may map; ON_NODE */
    size_t slot;               /* bytes that a rank can stage, ON_NODE */
    size_t box_room;           /* bytes of a room, see box.c; ON_NODE */
    /* Memory that the ranks of a node share, where it is one of several; sparse. */
    size_t space_bytes;
    size_t edge_count;          /* of the neighbourhood; 0: no topology, or not asked for yet */
    struct network network;     /* not ON_NODE */
    const struct figures *node; /* OVER_NODES: of the fullest node; it lives as long as the team */
};

/* ---- figures.c: all local ---- */
struct network network_of(const struct network_facts *facts);
/* Seconds that a barrier usually takes among p ranks on so many processors (0: not known). */
double sync_usual(int p, int processors);
/* Of p ranks on one node, of which nothing else is known. */
struct figures figures_of_node(int p);
/* Of ranks on several nodes; of the fullest one more is known. The network is the usual one. */
struct figures figures_over(const struct places *places, const struct figures *fullest);
/* Of one rank of each node. */
struct figures figures_of_lane(const struct figures *figures);

#endif
