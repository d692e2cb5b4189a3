/* SPDX-License-Identifier: BSD-3-Clause */
/* distgraph [ROUNDS [refused]]: communicators with a distributed graph are made and freed, the
 * edges given by their sources, by their ends or all by rank 0, with and without reordering. In
 * Open MPI 4.1 all ranks could hang there for ever, the more often the farther they were apart
 * (src/mpi/graphs.c). Each graph is asked for its edges, and used once. refused: first rank 0 alone
 * makes calls that Open MPI refuses at once. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t drawn = 1;
static int draw(int most) {
    drawn = drawn * 1664525 + 1013904223;
    return (int)(drawn >> 16) % most;
}

/* Who names an edge: its source, its end, rank 0. */
enum giver { SOURCES, ENDS, ZERO, GIVERS };

static int one_graph(int me, int p, enum giver giver, int reorder) {
    int *source = malloc(3 * (size_t)(p * p) * sizeof *source), *ones = source + p * p,
        *dest = ones + p * p, given = 0, all = 0;
    for (int i = 0; i < p; i++)
        for (int j = 0; j < p; j++) {
            int gives = giver == SOURCES ? i : giver == ENDS ? j : 0;
            if (draw(3) == 0) continue;
            all++;
            if (gives != me) continue;
            source[given] = i, ones[given] = 1, dest[given++] = j;
        }
    MPI_Comm graph;
    MPI_Dist_graph_create(MPI_COMM_WORLD, given, source, ones, dest, ones, MPI_INFO_NULL, reorder,
                          &graph);
    int in, out, weighted, mine[2], sums[2];
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    mine[0] = in, mine[1] = out;
    MPI_Allreduce(mine, sums, 2, MPI_INT, MPI_SUM, graph);
    MPI_Comm_free(&graph);
    free(source);
    return sums[0] != all || sums[1] != all;
}

/* Returns how many calls were not refused. Each differs in one argument from a right one. */
static int refused(int p) {
    int right[] = {0}, high[] = {p}, low[] = {-9}, one[] = {1}, *none = NULL, missed = 0;
    MPI_Comm graph;
    const struct {
        int n, *sources, *degrees, *destinations, *weights;
        MPI_Comm *graph;
    } wrong[] = {
        {-1, right, right, right, right, &graph}, {1, none, right, right, right, &graph},
        {1, right, none, right, right, &graph},   {1, right, right, none, right, &graph},
        {1, right, right, right, none, &graph},   {1, high, right, right, right, &graph},
        {1, low, right, right, right, &graph},    {1, right, low, right, right, &graph},
        {1, right, one, high, right, &graph},     {1, right, one, low, right, &graph},
        {1, right, one, right, low, &graph},      {1, right, right, right, right, NULL},
    };
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        missed += MPI_Dist_graph_create(MPI_COMM_WORLD, wrong[i].n, wrong[i].sources,
                                        wrong[i].degrees, wrong[i].destinations, wrong[i].weights,
                                        MPI_INFO_NULL, 0, wrong[i].graph) == MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return missed;
}

int main(int count, char **words) {
    int me, p, errors = 0, total;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (count > 2 && me == 0) errors += refused(p);
    MPI_Barrier(MPI_COMM_WORLD); /* no graph is made before that was over */
    for (int round = 0; round < (count > 1 ? atoi(words[1]) : 10); round++)
        for (int giver = 0; giver < GIVERS; giver++)
            for (int reorder = 0; reorder < 2; reorder++)
                errors += one_graph(me, p, (enum giver)giver, reorder);
    MPI_Allreduce(&errors, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, total);
    MPI_Finalize();
    return total != 0;
}
