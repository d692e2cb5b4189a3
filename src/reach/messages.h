/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - a part of reach.h: teams over several nodes, and the messages between their ranks.
 *
 * Three kinds of teams. On one node: control != NULL, the ranks share memory. Over several nodes:
 * wire != NULL and places tells who sits where; `node` is the team of the ranks of my node. A lane:
 * one rank of each node, wire != NULL, no places; its rank n sits on node n. What needs messages
 * only asks for a wire, and runs on either. */
#ifndef MORTAR_MESSAGES_H
#define MORTAR_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;
struct team;

/* Who sits where. Nodes are numbered by their lowest ranks. */
struct places {
    int nodes, most; /* most: ranks on one node */
    int *node_of;    /* [p] */
    int *local_of;   /* [p] which of its node's ranks a rank is */
    int *first;      /* [nodes + 1] where a node's ranks begin in: */
    int *ranks;      /* [p] the ranks, node by node, ascending */
    bool in_order;   /* ranks[i] == i: each node's ranks follow each other */
};
static inline int ranks_on(const struct places *places, int node) {
    return places->first[node + 1] - places->first[node];
}
static inline int rank_at(const struct places *places, int node, int local) {
    return places->ranks[places->first[node] + local];
}

/* ---- places.c ---- */
/* lowest[r]: the lowest rank on r's node. 0 or -errno; -EPROTO: that cannot be. Free with
 * places_free. Local. */
int places_make(struct places *places, int p, const int *lowest);
void places_free(struct places *places);
/* Option NODES: on which node to pretend that a rank sits, from "3" (blocks), "5,3,1" (so many
 * ranks each; once more for the rest) or "cyclic:3". -1: the option is not set. -EINVAL: it cannot
 * be read. Local. */
int places_pretended(int p, int rank);

/* What may be wrong with a message that was received, or with several, or-ed: it was longer than
 * the room for it; it was empty; who carries messages has failed. */
enum mishap { CAME_CUT = 1, CAME_EMPTY = 2, NOT_CARRIED = 4 };

/* How messages travel: the host MPI (wire.c), or, in tests, threads. Requests have small numbers,
 * given by the caller, who uses one again only when it is done. */
struct carrier {
    /* 0 or -errno. A message may be empty. data NULL: what is received, up to so many bytes, is
     * dropped. */
    int (*start)(void *state, bool sends, int peer, void *data, size_t bytes, int tag, int request);
    /* Waits for one of the requests first .. first + count - 1 that are not done; *done its number,
     * or -1: all are done. Returns mishaps: of the one; NOT_CARRIED: nothing more is to be waited
     * for. */
    int (*some)(void *state, struct team *team, int first, int count, int *done);
    /* For all of them, which are done then whatever the mishaps. */
    int (*all)(void *state, struct team *team, int first, int count);
    /* Has a message with this tag come that nobody has begun to receive? Its sender, or -1.
     * Local. */
    int (*look)(void *state, int tag);
    /* The host MPI's own collective on a team with a wire. NULL: there is none. */
    int (*collective)(void *state, struct team *team, const struct call *call);
    /* Makes that possible. Collective over the team; 0 or -errno, the same on all ranks. */
    int (*prepare)(void *state, struct team *team);
    void (*close)(void *state);
};

/* What has become of this rank's part in the call that runs. */
struct fate {
    bool lost; /* see messages_lose */
    bool cut;  /* more came than there was room for */
    /* What comes is not handed on, so who is cut has lost nothing that others need. */
    bool ends_here;
};

struct wire {
    const struct carrier *carrier;
    void *state;      /* the carrier's; the lanes of a team have it in common */
    const int *ranks; /* [p] the team's ranks as the carrier numbers them; NULL: as they are */
    int tag;          /* messages of this team have the tags tag .. tag + TAGS - 1 */
    int *under_way;   /* messages started and not finished; in common, too */
    struct traffic *traffic;
    struct fate *fate;
    void *native; /* the carrier's, for its collectives; NULL: not prepared */
};
enum { TAGS = 16 };

/* More memory that the ranks of a node share, for what one call has told the node and the next need
 * not tell again; see coll/nodes/lanes.c. */
struct tables {
    char *at;
    size_t bytes;
    const void *hold; /* what they tell of; the same on all ranks */
};

/* What this rank has sent. far: to other nodes. */
struct traffic {
    uint64_t messages, bytes, far_messages, far_bytes;
};

/* ---- messages.c. A message of no bytes is neither sent nor received: both sides know. Messages
 * between two ranks with one tag arrive in order; one of up to message_most bytes may be shorter
 * than what the receiver has room for.
 *
 * A rank for which something goes wrong in a call (no memory, more came than it has room for) has
 * *lost its part*, and goes on in step with the others: it sends and receives as many messages as
 * they expect, but what it sends is empty, and what comes to it is dropped. An empty message takes
 * the receiver's part with it. So nobody waits for ever, who depends on what is lost hears of it,
 * and no wrong byte is taken for a right one. An algorithm does not stop when something has gone
 * wrong; while its part is lost it leaves alone the buffers of the call, and memory that it could
 * not get ---- */
/* A call begins. lost: already. ends_here: see struct fate. */
void messages_begin(struct team *team, bool lost, bool ends_here);
bool messages_lost(const struct team *team);
void messages_lose(struct team *team);
/* The point to finish from: what was started before goes on. */
int messages_mark(const struct team *team);
void message_send(struct team *team, int to, const void *data, size_t bytes, int tag);
void message_recv(struct team *team, int from, void *data, size_t bytes, int tag);
/* The same for what keeps ranks in step: these words go and come also when a part is lost. Not more
 * than message_most bytes. */
void word_send(struct team *team, int to, const void *data, size_t bytes, int tag);
void word_recv(struct team *team, int from, void *data, size_t bytes, int tag);
/* Waits for all that was started since mark. */
void messages_finish(struct team *team, int mark);
/* Waits for one more of the messages since mark; *which: how many were started between mark and it,
 * or -1: all are finished. A message of more than message_most bytes counts as several. */
void messages_next(struct team *team, int mark, int *which);
extern const size_t message_most;
/* The rank from which a message with this tag has come that nobody has begun to receive; -1: none.
 * Local. */
int messages_look(struct team *team, int tag);
/* For set-up, over a wire: rank 0's bytes to all; true when all say true; sums over the ranks. 0 or
 * -errno. What becomes of them is nothing to the call that runs. Collective. */
int messages_tell(struct team *team, void *data, size_t bytes);
bool messages_agree(struct team *team, bool fine);
int messages_sum(struct team *team, const uint64_t values[2], uint64_t sums[2]);

/* ---- node.c ---- */
/* Memory for one call that the ranks of the node share: the halves of its space in turns, so that
 * who is late still reads what the last call left. Safe when every call that takes some has a
 * barrier of the node behind its first write. Every rank must ask. *bytes: how much it is.
 * Local. */
char *team_space(struct team *node, size_t *bytes);
/* Takes the tables from the end of the space. Local. */
void team_reserve_tables(struct team *node);

/* ---- keep.c ---- */
/* Memory until scratch_drop, which an algorithm calls at the end of a call that took some; in lines
 * of its own, not zeroed. NULL: no memory. Local. */
void *scratch_take(struct team *team, size_t bytes);
void scratch_drop(struct team *team);
/* Memory that lives as long as the team, zero at first, and is found again by two words, with the
 * same bytes. *fresh: this is the first time. NULL: no memory. Local. */
void *team_keeps(struct team *team, const void *whose, unsigned which, size_t bytes, bool *fresh);
/* The same on a team with a wire, but all ranks have it or none: NULL on all when one has no
 * memory, or is not fine for another reason. They tell each other until all were; collective until
 * then. bytes: this rank's. */
void *team_keeps_agreed(struct team *team, const void *whose, unsigned which, size_t bytes,
                        bool fine);
void team_free_kept(struct team *team);

/* ---- lanes.c ---- */
/* Lane l: rank l % (ranks on it) of each node; on a rank that is not in it, me is -1. The team
 * keeps it. NULL: no memory. Local. */
struct team *team_lane(struct team *team, int l);
void team_free_lanes(struct team *team);

#endif
