/* SPDX-License-Identifier: BSD-3-Clause */
/* topology - who is whose neighbour: periodic Cartesian grids, and a graph with eight neighbours of
 * each rank. Where there are few ranks a rank is its own neighbour, or the same neighbour several
 * times. */
#include "bench/common/bench.h"

#include <string.h>

static const int steps[] = {1, 3, 7, 12}; /* of the graph, in both directions */

const char *const topology_names[] = {"2d", "3d", "nd"};

int topology_find(const char *name) {
    for (int t = 0; t < 3; t++)
        if (strcmp(topology_names[t], name) == 0) return t;
    return -1;
}

static void make_grid(struct topology *topology, int p, int dimensions) {
    int sizes[3] = {0}, periodic[3] = {1, 1, 1};
    MPI_Dims_create(p, dimensions, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, periodic, 0, &topology->comm);
    for (int d = 0; d < dimensions; d++, topology->count += 2)
        MPI_Cart_shift(topology->comm, d, 1, &topology->to[2 * d], &topology->to[2 * d + 1]);
    memcpy(topology->from, topology->to, sizeof topology->from);
}

static void make_graph(struct topology *topology, int p, int me) {
    /* weights: compilers take MPI_UNWEIGHTED for a mistake. */
    static const int ones[most_neighbours] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++, topology->count += 2) {
        int up = (me + steps[s]) % p, down = (me + p - steps[s] % p) % p;
        topology->to[2 * s] = topology->from[2 * s + 1] = up;
        topology->to[2 * s + 1] = topology->from[2 * s] = down;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, topology->count, topology->from, ones,
                                   topology->count, topology->to, ones, MPI_INFO_NULL, 0,
                                   &topology->comm);
}

void topology_open(struct world *world, const struct kind *kind, int which) {
    static struct topology topology;
    if (!kind_neighbours(kind)) return;
    topology = (struct topology){0};
    if (which == 2) make_graph(&topology, world->p, world->me);
    else make_grid(&topology, world->p, which + 2);
    world->topology = &topology;
    world->comm = topology.comm;
}

void topology_close(struct world *world) {
    if (world->topology) MPI_Comm_free(&world->comm);
    world->topology = NULL, world->comm = world->all;
}
