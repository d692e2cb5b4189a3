/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - a part of reach.h: teams over several nodes, and the messages between their ranks.
 *
 * Three kinds of teams. On one node: control != NULL, and the ranks share memory. Over several
 * nodes: wire != NULL, places gives the node of each rank, and `node` is the team of the ranks of
 * my node. A lane, one rank of each node: wire != NULL, places == NULL, and rank n runs on node n.
 * Code that needs only messages runs on both kinds with a wire. */
#ifndef MORTAR_MESSAGES_H
#define MORTAR_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;
struct team;

/* The node of each rank. Nodes are numbered in the order of their lowest ranks. */
struct places {
    int nodes;
    int most;      /* ranks on the fullest node */
    int *node_of;  /* [p] the node of a rank */
    int *local_of; /* [p] the rank's number on its node */
    int *first;    /* [nodes + 1] index in `ranks` of a node's first rank */
    int *ranks;    /* [p] the ranks, node by node, ascending */
    bool in_order; /* ranks[i] == i for all i */
};
static inline int ranks_on(const struct places *places, int node) {
    return places->first[node + 1] - places->first[node];
}
static inline int rank_at(const struct places *places, int node, int local) {
    return places->ranks[places->first[node] + local];
}

/* ---- places.c ---- */
/* Where a rank runs: ranks with the same node, real and pretended, share memory. */
struct home {
    uint64_t node;     /* machine_node; 0: not known */
    int32_t pretended; /* places_pretended */
    int32_t world;     /* its rank in MPI_COMM_WORLD */
};
/* Do all ranks share one node? */
bool places_one(const struct home *homes, int p);
/* Sets lowest[p] for places_make. */
void places_lowest(const struct home *homes, int p, int *lowest);
/* lowest[r]: the lowest rank on r's node. 0 or -errno; -EPROTO: `lowest` is not consistent. Free
 * with places_free. Local. */
int places_make(struct places *places, int p, const int *lowest);
void places_free(struct places *places);
/* The node of a rank according to option NODES: "3" (blocks), "5,3,1" (ranks per node, repeated
 * for the remaining ranks) or "cyclic:3". -1: the option is not set. -EINVAL: it is malformed.
 * Local. */
int places_pretended(int p, int rank);

/* Flags: what went wrong with one or several received messages. */
enum mishap {
    CAME_CUT = 1,    /* longer than the room for it */
    CAME_EMPTY = 2,  /* no bytes */
    NOT_CARRIED = 4, /* the carrier failed */
};

/* How messages travel: by the host MPI (wire.c), or by threads in tests. The caller numbers
 * requests with small numbers, and uses one again only when it is done. All are local except
 * prepare and collective. */
struct carrier {
    /* Starts to send or receive a message, which may be empty. data == NULL: receives up to `bytes`
     * and drops them. 0 or -errno. */
    int (*start)(void *state, bool sends, int peer, void *data, size_t bytes, int tag, int request);
    /* Waits for one of the requests first .. first + count - 1 that are not done. *done: its
     * number, or -1: all are done. Returns its mishaps; after NOT_CARRIED do not wait for the
     * others. */
    int (*some)(void *state, struct team *team, int first, int count, int *done);
    /* Waits for all of them; they are done afterwards whatever the mishaps. Returns the mishaps. */
    int (*all)(void *state, struct team *team, int first, int count);
    /* The sender of a message with this tag that has arrived and that no receive was started for;
     * -1: none. */
    int (*look)(void *state, int tag);
    /* Runs the host MPI's own collective on a team with a wire. NULL: there is none. */
    int (*collective)(void *state, struct team *team, const struct call *call);
    /* Prepares `collective`. Collective over the team; 0 or -errno, the same on all ranks. */
    int (*prepare)(void *state, struct team *team);
    void (*close)(void *state);
};

/* State of this rank's part in the current call. */
struct fate {
    bool lost; /* see messages.c, below */
    bool cut;  /* a message was longer than the room for it */
    /* This rank forwards nothing that it receives: a cut message does not make its part lost. */
    bool ends_here;
};

struct wire {
    const struct carrier *carrier;
    void *state;      /* the carrier's; shared with the team's lanes */
    const int *ranks; /* [p] the carrier's number of each rank; NULL: the same */
    int tag;          /* the carrier gets tag .. tag + TAGS - 1 for this team, and may add to it */
    int *under_way;   /* number of messages in flight; shared with the lanes */
    struct traffic *traffic;
    struct fate *fate;
    void *native; /* the carrier's, for its collectives; NULL: not prepared */
};
enum { TAGS = 16 };

/* Memory shared by the ranks of a node. It keeps what they published in one call, so that the next
 * call need not publish it again; see coll/nodes/lanes.c. */
struct tables {
    char *at;
    size_t bytes;
    const void *hold; /* identifies the contents; the same on all ranks */
};

/* What this rank has sent. far: the part that went to other nodes. */
struct traffic {
    uint64_t messages, bytes, far_messages, far_bytes;
};

/* ---- messages.c: local, except where stated ----
 *
 * Sender and receiver both skip a message of 0 bytes. Messages between two ranks with one tag
 * arrive in order. A message of up to message_most bytes may be shorter than the receiver's room.
 *
 * If something goes wrong for a rank in a call (no memory, a message longer than its room), its
 * part is *lost*. It continues in step with the others: it sends and receives as many messages as
 * they expect, but it sends empty ones and drops what it receives. An empty message makes the
 * receiver's part lost, too. So no rank waits for ever, every rank that depends on a lost part
 * learns of it, and no wrong byte passes for a right one. An algorithm therefore does not stop at
 * an error. While its part is lost it must not touch the call's buffers, nor memory that it could
 * not get ---- */
/* Begins a call. lost: this rank's part is lost from the start. ends_here: see struct fate. */
void messages_begin(struct team *team, bool lost, bool ends_here);
bool messages_lost(const struct team *team);
void messages_lose(struct team *team);
/* A mark for messages_finish and messages_next, which leave earlier messages in flight. */
int messages_mark(const struct team *team);
void message_send(struct team *team, int to, const void *data, size_t bytes, int tag);
void message_recv(struct team *team, int from, void *data, size_t bytes, int tag);
/* The same for data that keep ranks in step: sent and received in full even if the part is lost. At
 * most message_most bytes. */
void word_send(struct team *team, int to, const void *data, size_t bytes, int tag);
void word_recv(struct team *team, int from, void *data, size_t bytes, int tag);
/* Waits for all messages started since mark. */
void messages_finish(struct team *team, int mark);
/* Waits for one more of the messages started since mark. *which: its number, counted from 0 at
 * mark, or -1: all are finished. A message of more than message_most bytes counts as several. */
void messages_next(struct team *team, int mark, int *which);
extern const size_t message_most;
/* The sender of a message with this tag that has arrived and that no receive was started for; -1:
 * none. */
int messages_look(struct team *team, int tag);
/* Small collectives over a wire, for set-up: copy rank 0's bytes to all; AND; all's bytes to all;
 * sums. They leave the state of the current call unchanged. 0 or -errno; messages_agree is false on
 * an error. */
int messages_tell(struct team *team, void *data, size_t bytes);
bool messages_agree(struct team *team, bool fine);
/* all[r] becomes rank r's `mine`, of so many bytes. */
int messages_gather(struct team *team, const void *mine, void *all, size_t bytes);
/* count <= sum_words. */
int messages_sum(struct team *team, const uint64_t *values, uint64_t *sums, int count);

/* ---- node.c ---- */
/* Memory of *bytes for one call, shared by the ranks of the node. The two halves of team->space
 * alternate, so that a late rank can still read what the last call wrote. Every call that takes
 * some must have a barrier of the node after its first write, and every rank must ask. Local. */
char *team_space(struct team *node, size_t *bytes);
/* Cuts node->tables off the end of the space. Local. */
void team_reserve_tables(struct team *node);

/* ---- keep.c ---- */
/* Memory until scratch_drop, which an algorithm calls at the end of a call that took some. Aligned
 * to cache lines, not zeroed. NULL: no memory. Local. */
void *scratch_take(struct team *team, size_t bytes);
void scratch_drop(struct team *team);
/* Memory that lives as long as the team, found again by (whose, which); `bytes` must stay the same.
 * *fresh: it is new, and all zeros. NULL: no memory. Local. */
void *team_keeps(struct team *team, const void *whose, unsigned which, size_t bytes, bool *fresh);
/* The same on a team with a wire, but on all ranks or on none: NULL on all ranks if one has no
 * memory or passes fine == false. bytes: of this rank. Collective until it has succeeded once, then
 * local. */
void *team_keeps_agreed(struct team *team, const void *whose, unsigned which, size_t bytes,
                        bool fine);
void team_free_kept(struct team *team);

/* ---- lane_teams.c ---- */
/* Lane l: rank l % (ranks on the node) of each node; me is -1 on a rank that is not in it. Belongs
 * to the team. NULL: no memory. Local. */
struct team *team_lane(struct team *team, int l);
void team_free_lanes(struct team *team);

#endif
