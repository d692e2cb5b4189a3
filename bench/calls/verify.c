/* SPDX-License-Identifier: BSD-3-Clause */
/* verify - is what a contestant delivers right, byte by byte? Does nobody leave a barrier before
 * all are there? */
#include "contest.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { most_late = 8 };

/* In each round another rank enters late: who leaves must find that it has been there. Needs memory
 * that all share. */
static bool verify_barrier(const struct world *world, const struct cell *cell,
                           const struct contestant *contestant) {
    static const struct timespec late = {.tv_nsec = 2000000};
    _Atomic int *entered = world->nodes == 1 ? shared_map(sizeof *entered) : NULL;
    bool early = false;
    for (int round = 0; entered && round < world->p && round < most_late; round++) {
        meet();
        if (world->me == world->p - 1 - round) nanosleep(&late, NULL);
        atomic_fetch_add(entered, 1);
        timing_call(world, cell, contestant);
        early = early || atomic_load(entered) < (round + 1) * world->p;
    }
    bool fine = meet_max(early) == 0;
    shared_unmap((void *)entered, sizeof *entered);
    if (early)
        fprintf(
            stderr,
            "mortar bench: WRONG RESULT of %s: barrier: rank %d of %d left it before all had entered\n",
            contestant->name, world->me, world->p);
    return fine;
}

static void complain(const struct cell *cell, const struct contestant *contestant, int block,
                     size_t place) {
    char where[48] = "the sum";
    if (kind_grid(cell->kind)) snprintf(where, sizeof where, "its slab");
    else if (cell->kind->contents == BYTES)
        snprintf(where, sizeof where, "block from rank %d", cell->in.peers[block]);
    fprintf(stderr,
            "mortar bench: WRONG RESULT of %s: %s of %zu bytes, rank %d of %d, %s, byte %zu\n",
            contestant->name, cell->kind->name, cell->bytes, cell->me, cell->p, where, place);
}

bool verify(const struct world *world, const struct cell *cell,
            const struct contestant *contestant) {
    bool limit = contestant->what >= LIMIT_ROWS;
    char *send = limit ? limit_send() : cell->send, *recv = limit ? limit_recv() : cell->recv;
    int block;
    size_t place;
    output_progress(world, cell, contestant->name);
    timing_plan(world, contestant);
    cell_fill(cell, send);
    cell_poison(cell, recv);
    meet();
    timing_call(world, cell, contestant);
    bool wrong = cell_wrong(cell, recv, &block, &place);
    if (wrong) complain(cell, contestant, block, place);
    bool overrun = cell_overrun(cell);
    if (overrun)
        fprintf(
            stderr,
            "mortar bench: WRONG RESULT of %s: %s of %zu bytes, rank %d of %d: written around a buffer\n",
            contestant->name, cell->kind->name, cell->bytes, cell->me, cell->p);
    wrong = wrong || overrun;
    bool fine = meet_max(wrong) == 0;
    return cell->kind->sends == NOBODY ? verify_barrier(world, cell, contestant) && fine : fine;
}
