/* SPDX-License-Identifier: BSD-3-Clause */
/* meet - a barrier for the bench itself. MPI's own would do but for its cost: 30 ms where it spins
 * on a crowded node.
 *
 * A rank that waits here must drive the MPI library: a peer may still be in a collective that needs
 * it (MPI 4.1 section 2.9). */
#include "bench.h"
#include "gate.h"

#include <time.h>

struct said {
    _Alignas(64) double value;
};
struct board {
    struct gate gate;
    struct said said[]; /* [2][p]: written for one meeting, read until the next */
};

static struct board *board;      /* NULL: several nodes, or no shared memory; MPI has to do it */
static const struct world *here; /* NULL: all ranks */
static int p, me;
static bool crowded;

static size_t board_bytes(void) { return sizeof *board + 2 * (size_t)p * sizeof board->said[0]; }

void meet_open(const struct world *world) {
    here = world;
    p = world->p, me = world->me, crowded = world->crowded;
    if (world->nodes == 1) board = shared_map(board_bytes());
}

void meet_close(void) {
    shared_unmap(board, board_bytes());
    board = NULL, here = NULL;
}

MPI_Comm meet_ranks(void) { return here ? here->all : MPI_COMM_WORLD; }

static void drive(void) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

void meet_asleep(void) {
    static const struct timespec nap = {.tv_nsec = 2000000};
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) return;
        nanosleep(&nap, NULL);
    }
}

double meet_max(double value) {
    double most = value;
    if (!board) {
        library.allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, meet_ranks());
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
    library.bcast(&value, 1, MPI_INT, 0, meet_ranks());
    return value;
}
