/* SPDX-License-Identifier: BSD-3-Clause */
/* meet - a barrier for the bench itself. MPI's own would do but for its cost: 30 ms where it spins
 * on a crowded node.
 *
 * A rank that waits here must drive the MPI library: a peer may still be in a collective that needs
 * it (MPI 4.1 section 2.9). */
#include "bench.h"
#include "gate.h"

struct said {
    _Alignas(64) double value;
};
struct board {
    struct gate gate;
    struct said said[]; /* [2][p]: written for one meeting, read until the next */
};

static struct board *board; /* NULL: several nodes, or no shared memory; MPI has to do it */
static int p, me;
static bool crowded;

void meet_open(const struct world *world) {
    p = world->p, me = world->me, crowded = world->crowded;
    if (world->nodes == 1)
        board = shared_map(sizeof *board + 2 * (size_t)p * sizeof board->said[0]);
}

static void drive(void) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

double meet_max(double value) {
    double most = value;
    if (!board) {
        library.allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return most;
    }
    uint32_t number = gate_number(&board->gate);
    int half = (int)(number & 1) * p;
    board->said[half + me].value = value;
    if (gate_arrive(&board->gate, (uint32_t)p, number)) gate_open(&board->gate, number);
    for (int waits = 0; !gate_passed(&board->gate, number); waits++) {
        if (crowded || waits > 2000) sched_yield();
        if (waits % 32 == 31) drive();
    }
    for (int i = 0; i < p; i++)
        if (board->said[half + i].value > most) most = board->said[half + i].value;
    return most;
}

void meet(void) { meet_max(0); }

int meet_first(int value) {
    library.bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return value;
}
