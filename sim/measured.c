/* SPDX-License-Identifier: BSD-3-Clause */
/* measured - the network as `mortar bench network` would measure it: that command's own tests
 * (bench/network/tests.c) between the first two nodes of the simulated cluster. Simulated times
 * have no noise, so one round is enough. */
#include "bench/common/bench.h"
#include "bench/network/network.h"

#include "sim.h"
#include "world.h"

#include <stdlib.h>

/* ---- what the tests call, in place of bench/network/pairs.c and bench/calls/blocks.c ---- */

uint64_t draw(uint64_t a, uint64_t b) {
    return (a + 1) * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xd1b54a32d192ed03u;
}

void sharp_barrier(MPI_Comm comm) { PMPI_Barrier(comm); }
void polite_barrier(MPI_Comm comm) { PMPI_Barrier(comm); }

double most_of(MPI_Comm comm, double mine) {
    double most;
    PMPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
    return most;
}

/* ---- the measurement ---- */

enum { rounds = 1, columns = 2 };

static void pairs_make(struct pairs *pairs, const struct network_settings *settings, int me) {
    int each = settings->pairs[columns - 1], node = me / each, place = me % each;
    bool in = node < 2;
    *pairs =
        (struct pairs){.nodes = 2, .most = each, .place = in ? place : -1, .side = in ? node : -1};
    int key = 2 * place + node;
    pairs->partner = key ^ 1;
    pairs->both = pairs->leaders = MPI_COMM_NULL;
    for (int c = 0; c < columns; c++) pairs->of[c] = MPI_COMM_NULL;
    PMPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, key, &pairs->both);
    for (int c = 0; c < columns && in; c++)
        PMPI_Comm_split(pairs->both, place < settings->pairs[c] ? 0 : MPI_UNDEFINED, key,
                        &pairs->of[c]);
}

bool measure_network(int each, int me, struct network_facts *facts) {
    static struct network_settings settings;
    static struct pairs pairs;
    settings = (struct network_settings){
        .sizes = {.bytes = {short_bytes, 1 << 20}, .sizes = 2},
        .pairs = {1, each},
        .columns = columns,
        .seconds = 1e-3,
        .rounds = rounds,
    };
    struct figures figures = {.rounds = rounds, .columns = columns};
    pairs_make(&pairs, &settings, me);
    figures.all =
        calloc((size_t)(settings.sizes.sizes + 3) * (columns + 1) * rounds, sizeof *figures.all);
    bool fine = figures.all &&
                (pairs.both == MPI_COMM_NULL || network_measure(&pairs, &settings, &figures));
    PMPI_Barrier(MPI_COMM_WORLD);
    if (fine && me == 0) network_facts_of(&settings, &pairs, &figures, facts);
    free(figures.all);
    return fine;
}
