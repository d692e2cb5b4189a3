/* SPDX-License-Identifier: BSD-3-Clause */
/* figures.h - facts about a team that are the same on every rank. All ranks must choose the same
 * plan without communication. So code that decides (the planner, an algorithm's `can` and `cost`)
 * gets these figures and not the team: it cannot use what only one rank knows. */
#ifndef MORTAR_FIGURES_H
#define MORTAR_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct network_facts;
struct places;

/* The kind of a team, and of the teams that an algorithm runs on. */
enum where {
    ON_NODE,     /* on one node, in shared memory */
    BY_MESSAGES, /* one rank of each node: a lane. Its algorithms also run on teams OVER_NODES */
    OVER_NODES,  /* several nodes, with several ranks on some of them */
};

/* What messages between nodes cost, in seconds: network_usual, or a tuning file's figures
 * (plan_network). */
struct network {
    double latency;   /* of a short message, without overhead */
    double overhead;  /* of a short message: on the sender, and again on the receiver */
    double byte;      /* per byte of one rank's messages */
    double node_byte; /* per byte of the messages of all ranks of a node */
    double gap;       /* from one short message of a node to its next */
    /* Slowdown per byte when all nodes send, 0: none, 1: twice as slow. one: each node sends to one
     * other; many: to very many at once. */
    double one, many;
    bool measured; /* from a tuning file */
};

struct figures {
    enum where where;
    int p;               /* ranks */
    int nodes;           /* nodes that the ranks run on */
    int most, fewest;    /* ranks on the fullest node, and on the emptiest */
    bool in_order;       /* the ranks of each node are consecutive */
    uint32_t domains;    /* memory domains that the ranks run in; over several nodes 1 */
    int processors;      /* that the ranks of a node may use; 0: not known */
    double sync_seconds; /* one barrier of a node, as rank 0 measured it */
    /* One barrier among this number of ranks on usual machines. Plans that combine elements are
     * chosen by it, not by sync_seconds: a plan sets the association, and the last digits of a sum
     * must not depend on a clock. */
    double usual_sync_seconds;
    size_t l2_bytes;            /* of one L2 of rank 0's node; 0: not known */
    size_t l3_bytes;            /* machine_l3_bytes() there */
    bool shares;                /* ON_NODE: every rank has a region that its peers may map */
    size_t slot;                /* ON_NODE: bytes that a rank can stage */
    size_t box_room;            /* ON_NODE: bytes of a room; see box.c */
    size_t space_bytes;         /* over several nodes: sparse memory that a node's ranks share */
    bool space_ample;           /* it holds whatever the ranks of a node can send and receive */
    size_t edge_count;          /* of the neighbourhood; 0: no topology, or not asked for yet */
    struct network network;     /* not ON_NODE */
    const struct figures *node; /* OVER_NODES: of the fullest node; lives as long as the team */
};

/* Do at most so many ranks have a processor each? Then a barrier in which each watches all others
 * is the fastest (docs/cores.md). */
enum { few_ranks = 8 };
static inline bool few(int p, int processors) { return p <= few_ranks && processors >= p; }
static inline bool are_few(const struct figures *f) { return few(f->p, f->processors); }
/* Does each of more ranks have one? Then a word that all of them change costs most of a call. */
static inline bool spreads(int p, int processors) { return p > few_ranks && processors >= p; }
static inline bool are_spread(const struct figures *f) { return spreads(f->p, f->processors); }

/* ---- figures.c: all local ---- */
struct network network_of(const struct network_facts *facts);
/* Seconds that a barrier usually takes among p ranks on `processors` (0: not known). */
double sync_usual(int p, int processors);
/* What one at gates takes more, where beacons are usual; else 0. */
double gates_usual(int p, int processors);
/* p ranks on one node; the rest is not known. */
struct figures figures_of_node(int p);
/* Ranks on several nodes; fullest: of the node with most ranks; must outlive the result. The
 * network is network_usual. */
struct figures figures_over(const struct places *places, const struct figures *fullest);
/* A lane of a team over several nodes. */
struct figures figures_of_lane(const struct figures *figures);

#endif
