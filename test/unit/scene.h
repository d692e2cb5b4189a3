/* SPDX-License-Identifier: BSD-3-Clause */
/* scene.h - a call of any collective on threads as ranks, and what it has to leave in their memory:
 * from the definitions in MPI's standard alone, for every row of collectives.h. */
#ifndef MORTAR_SCENE_H
#define MORTAR_SCENE_H

#include "sides.h"

/* A graph of processes, the same for all calls of a team. */
struct graph {
    /* edges; blocks of each rank, some of which are nobody's. */
    int p, count, outs[most_ranks], ins[most_ranks];
    bool connected;
    struct edge edge[4 * most_ranks]; /* by source and `out` */
};
void graph_draw(struct graph *graph, int p, uint64_t *random);

/* What all ranks know of a call: drawn from rank->common. */
struct scene {
    enum collective collective;
    const struct graph *graph;
    int p, root;
    uint64_t seed;
    /* Bytes of equal blocks, the most of others; of combined vectors, in elements of 8 bytes,
     * likewise. */
    size_t each;
    int style;     /* how the sizes of others are drawn */
    bool in_place; /* where the collective has that */
    bool runs;     /* no layout has gaps */
    bool reached;  /* all buffers lie in the regions */
    bool commutes, any_order;
    int counts[most_ranks]; /* of reduce_scatter: elements */
};
/* most: bytes of a block, or of a vector. */
struct scene scene_draw(struct rank *rank, enum collective collective, const struct graph *graph,
                        size_t most);
struct shape scene_shape(const struct scene *scene, const struct team *team);

/* What is combined. x -> a x + b: to put one behind the other does not commute; to add both numbers
 * does. */
struct map {
    uint32_t a, b;
};
/* For struct reduction; its state: does the operation commute? (bool) */
void map_combine(const struct reduction *reduction, const char *in, char *inout, size_t count);
/* Element i of a rank's vector. */
struct map map_of(uint64_t seed, int rank, size_t i);

/* A rank's part: its buffers, and the call that describes them. */
struct actor {
    struct side send, recv;
    struct neighbours neighbours;
    struct edge to[4 * most_ranks], from[4 * most_ranks];
    struct reduction reduction;
    struct call call;
    char *image; /* side_room bytes */
};
/* Draws places, writes what is sent. */
void actor_enter(struct rank *rank, const struct team *team, const struct scene *scene,
                 struct actor *actor);
/* Compares every byte of both buffers, and those beside them; then writes over them. left: nothing
 * may have been received. */
void actor_leave(const struct rank *rank, const struct scene *scene, struct actor *actor, bool left,
                 const char *plan);

#endif
