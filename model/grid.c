/* SPDX-License-Identifier: BSD-3-Clause */
/* grid - neighbourhoods to simulate: those of MPI_Cart_create in two and three dimensions (li2018
 * section 3 and figure 11), and a random graph. */
#include "cachesim.h"

#include "order/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_dims = 3 };

/* The neighbour in one direction, by MPI's numbering: first backwards, then forwards, dimension by
 * dimension. Returns -1 beyond the edge. */
static int64_t neighbour(const uint32_t *dims, int count, uint32_t rank, int direction) {
    uint32_t stride = 1;
    int dim = direction / 2;
    for (int d = count - 1; d > dim; d--) stride *= dims[d];
    uint32_t at = rank / stride % dims[dim];
    if (direction % 2 == 0) return at > 0 ? (int64_t)rank - stride : -1;
    return at + 1 < dims[dim] ? (int64_t)rank + stride : -1;
}

static void grid_edges(const uint32_t *dims, int count, uint32_t ranks, struct around *around) {
    for (uint32_t r = 0; r < ranks; r++)
        for (int direction = 0; direction < 2 * count; direction++) {
            int64_t other = neighbour(dims, count, r, direction);
            if (other < 0) continue;
            around->edges[around->count++] = (struct edge){.source = r,
                                                           .dest = (uint32_t)other,
                                                           .out = (uint32_t)direction,
                                                           .in = (uint32_t)direction ^ 1};
        }
}

/* Each rank sends to `degree` others, in random order: `degree` different permutations without a
 * rank that stays where it is, so that each receives as many. The same graph in every run. */
static void random_edges(uint32_t ranks, struct around *around) {
    uint64_t state = 1;
    bool drawn[most_cores] = {true}; /* its own place */
    for (uint32_t k = 0, shift = 0; k < around->degree; k++) {
        while (drawn[shift]) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            shift = 1 + (uint32_t)(state >> 33) % (ranks - 1);
        }
        drawn[shift] = true;
        for (uint32_t r = 0; r < ranks; r++)
            around->edges[around->count++] =
                (struct edge){.source = r, .dest = (r + shift) % ranks, .out = k, .in = k};
    }
}

/* The numbers of a grid. Returns how many; 0: it is none. */
static int read_dims(const char *text, uint32_t dims[most_dims]) {
    for (int count = 0; count < most_dims; text++) {
        char *end;
        unsigned long number = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
        if (number == 0 || number > most_cores) return 0;
        dims[count++] = (uint32_t)number;
        text = end;
        if (*text != 'x') return *text ? 0 : count;
    }
    return 0;
}

const char *around_make(const char *text, uint32_t ranks, struct around *around) {
    uint32_t dims[most_dims] = {1, 1, 1}, degree;
    char end;
    int count = read_dims(text, dims);
    *around = (struct around){0};
    if (sscanf(text, "random%u%c", &degree, &end) == 1 && degree > 0 && degree < ranks) {
        around->degree = degree;
        around->edges = malloc((size_t)ranks * degree * sizeof *around->edges);
        if (!around->edges) return "out of memory";
        random_edges(ranks, around);
        return NULL;
    }
    if (count < 2) return "expected a grid, like 6x10 or 4x4x4, or random8 (fewer than the ranks)";
    if ((uint64_t)dims[0] * dims[1] * dims[2] != ranks)
        return "the grid must have as many points as there are ranks (--ranks)";
    around->degree = 2 * (uint32_t)count;
    around->edges = malloc((size_t)ranks * around->degree * sizeof *around->edges);
    if (!around->edges) return "out of memory";
    grid_edges(dims, count, ranks, around);
    return NULL;
}
