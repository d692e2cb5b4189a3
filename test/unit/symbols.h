/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.h - calls whose blocks are numbers that name their sender and their receiver, made by the
 * ranks of a world (fibers.h), and a look at which blocks a message carries. */
#ifndef MORTAR_SYMBOLS_H
#define MORTAR_SYMBOLS_H

#include "fibers.h"
#include "plan/plan.h"

/* The call that all ranks make next. */
extern struct scene {
    const struct plan *plan;
    enum collective collective;
    int p, root;
    int calls;              /* how often, one after the other */
    size_t words;           /* of equal blocks; elements of a vector */
    uint32_t key;           /* differs from call to call; the next call must have another one */
    const int *node_of;     /* what counts as one receiver in scene_look; NULL: each rank */
    int parts[most_fibers]; /* of a reduce_scatter: elements of each rank */
    bool ran;               /* the plan can run the call */
} scene;

/* Blocks that the whole message consists of, beside what ranks agree on. */
bool is_equal(enum collective c);
/* For a new world of p ranks. */
void scene_begin(int p);
/* world.body: makes the calls, and compares what they leave. */
void scene_body(struct team *team);
/* world.hand: no receiver gets a block twice. */
void scene_look(const struct handed *handed);

#endif
