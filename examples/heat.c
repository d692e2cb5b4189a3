/* SPDX-License-Identifier: BSD-3-Clause */
/* heat - what heat2d and heat3d share; see heat.h. */
#include "heat.h"
#include "memory.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000000 }; /* points in a direction, or iterations */
/* degrees; not 0, so that no value ever becomes tiny, which processors are slow at. */
enum { COLD = 20, HOT = 100 };

static void stop(const struct heat *heat, const char *why, const char *what) {
    if (heat->me == 0) fprintf(stderr, "%s: %s%s\n", heat->name, why, what);
    MPI_Finalize();
    exit(2);
}

static int number(const struct heat *heat, const char *text, int least) {
    char *end;
    long value = text ? strtol(text, &end, 10) : -1;
    if (!text || *end || value < least || value > MOST)
        stop(heat, "expected a number up to 1000000, not ", text ? text : "nothing");
    return (int)value;
}

struct heat heat_begin(int *count, char ***words, const char *name, int dimensions, int n) {
    MPI_Init(count, words);
    struct heat heat = {
        .name = name, .n = n, .iterations = 1024, .dimensions = dimensions, .grid = {0, 0, 1}};
    MPI_Comm_size(MPI_COMM_WORLD, &heat.ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &heat.me);
    for (char **word = *words + 1; *word; word++) {
        if (strcmp(*word, "--verify") == 0) heat.verify = true;
        else if (strcmp(*word, "--n") == 0) heat.n = number(&heat, *++word, 1);
        else if (strcmp(*word, "--iterations") == 0) heat.iterations = number(&heat, *++word, 0);
        else if (strcmp(*word, "--image") == 0 && word[1]) heat.image = *++word;
        else
            stop(&heat, "usage: [--n N] [--iterations I] [--image FILE.npy] [--verify], not ",
                 *word);
    }
    if (dimensions == 3) heat.grid[2] = 0;
    MPI_Dims_create(heat.ranks, dimensions, heat.grid);
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, heat.grid, (int[3]){0, 0, 0}, 1, &heat.comm);
    MPI_Comm_rank(heat.comm, &heat.me);
    return heat;
}

static struct box box_of(const struct heat *heat, int rank) {
    struct box box = heat->box;
    int at[3] = {0, 0, 0};
    MPI_Cart_coords(heat->comm, rank, box.dimensions, at);
    for (int k = 0; k < 3; k++) {
        long n = box.whole[k], parts = heat->grid[k];
        box.first[k] = (int)(n * at[k] / parts);
        box.size[k] = (int)(n * (at[k] + 1) / parts) - box.first[k];
    }
    return box;
}

void heat_share(struct heat *heat, int n0, int n1, int n2) {
    heat->box = (struct box){.dimensions = heat->dimensions, .whole = {n0, n1, n2}};
    for (int k = 0; k < 3; k++)
        if (heat->box.whole[k] < heat->grid[k]) stop(heat, "more ranks than points", "");
    heat->box = box_of(heat, heat->me);
    int large = heat_points(&heat->box) > INT_MAX / 2, any; /* room for what a program adds */
    MPI_Allreduce(&large, &any, 1, MPI_INT, MPI_MAX, heat->comm);
    if (any) stop(heat, "too many points for one rank", "");
}

double *heat_memory(size_t doubles) {
    double *memory = calloc(doubles, sizeof *memory);
    if (!memory) {
        fprintf(stderr, "no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* One wall is hot, and inside a shell and, beside the middle, a ball in it (in the plate: a ring
 * and a disc). */
static double temperature(const struct box *box, const int at[3]) {
    static const double middle[3] = {0.12, 0.06, -0.03}; /* of the ball, in shortest edges */
    double shortest = box->whole[0], square = 0, ball = 0;
    for (int k = 0; k < box->dimensions; k++) {
        if (at[k] < 0) return k == 0 ? HOT : COLD;
        if (at[k] >= box->whole[k]) return COLD;
        if (box->whole[k] < shortest) shortest = box->whole[k];
    }
    for (int k = 0; k < box->dimensions; k++) {
        double x = (at[k] + 0.5 - 0.5 * box->whole[k]) / shortest;
        square += x * x;
        ball += (x - middle[k]) * (x - middle[k]);
    }
    return ball < 0.12 * 0.12 || (square > 0.3 * 0.3 && square < 0.38 * 0.38) ? HOT : COLD;
}

void heat_start(const struct box *box, double *field) {
    int layer = box->dimensions == 3; /* of ghosts in direction 2 */
    for (int i = -1; i <= box->size[0]; i++)
        for (int j = -1; j <= box->size[1]; j++)
            for (int k = -layer; k < box->size[2] + layer; k++)
                field[heat_place(box, i, j, k)] = temperature(
                    box, (int[3]){box->first[0] + i, box->first[1] + j, box->first[2] + k});
}

/* The sum over all points of a hash of the value's bits and the place: the same however the points
 * are shared out. */
static uint64_t hash_of(const struct box *box, const double *field, double *sum) {
    uint64_t total = 0;
    for (int i = 0; i < box->size[0]; i++)
        for (int j = 0; j < box->size[1]; j++)
            for (int k = 0; k < box->size[2]; k++) {
                uint64_t bits, row = (uint64_t)(box->first[0] + i) * (uint64_t)box->whole[1] +
                                     (uint64_t)(box->first[1] + j);
                double value = field[heat_place(box, i, j, k)];
                memcpy(&bits, &value, sizeof bits);
                bits ^= (row * (uint64_t)box->whole[2] + (uint64_t)(box->first[2] + k) + 1) *
                        0x9e3779b97f4a7c15;
                /* splitmix64 (Steele, Lea, Flood 2014). */
                bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
                bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
                total += bits ^ (bits >> 31);
                *sum += value;
            }
    return total;
}

/* A box of doubles within an array of n[k] in direction k. */
static MPI_Datatype part(const int n[3], const int size[3], const int first[3]) {
    MPI_Datatype type;
    MPI_Type_create_subarray(3, n, size, first, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The whole grid without ghosts on rank 0, for the caller to free; NULL elsewhere. */
static double *gather(const struct heat *heat, const double *field) {
    const struct box *box = &heat->box;
    int ghosts = box->dimensions == 3,
        widths[3] = {(int)heat_width(box, 0), (int)heat_width(box, 1), (int)heat_width(box, 2)};
    MPI_Datatype inside = part(widths, box->size, (int[3]){1, 1, ghosts});
    MPI_Request request;
    MPI_Isend(field, 1, inside, 0, 0, heat->comm, &request);
    double *all = NULL;
    if (heat->me == 0) {
        all = heat_memory((size_t)box->whole[0] * (size_t)box->whole[1] * (size_t)box->whole[2]);
        for (int rank = 0; rank < heat->ranks; rank++) {
            struct box theirs = box_of(heat, rank);
            MPI_Datatype there = part(box->whole, theirs.size, theirs.first);
            MPI_Recv(all, 1, there, rank, 0, heat->comm, MPI_STATUS_IGNORE);
            MPI_Type_free(&there);
        }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&inside);
    return all;
}

/* numpy's format. */
static bool save(const struct heat *heat, const double *all) {
    const int *n = heat->box.whole;
    char shape[64], header[128];
    if (heat->dimensions == 2) snprintf(shape, sizeof shape, "(%d, %d)", n[0], n[1]);
    else snprintf(shape, sizeof shape, "(%d, %d, %d)", n[0], n[1], n[2]);
    snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }",
             shape);
    FILE *file = fopen(heat->image, "wb");
    if (!file) return false;
    size_t points = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    /* 118 bytes of header, 128 with these. */
    bool fine = fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file) == 10;
    fine = fprintf(file, "%-117s\n", header) == 118 &&
           fwrite(all, sizeof *all, points, file) == points && fine;
    return fclose(file) == 0 && fine;
}

static long differences(const struct heat *heat, const double *all, const double *reference) {
    struct box whole = heat->box;
    memcpy(whole.size, whole.whole, sizeof whole.size);
    long wrong = 0;
    for (int i = 0; i < whole.size[0]; i++)
        for (int j = 0; j < whole.size[1]; j++)
            for (int k = 0; k < whole.size[2]; k++)
                wrong += memcmp(all++, &reference[heat_place(&whole, i, j, k)], sizeof *all) != 0;
    return wrong;
}

/* sums: of all points, and of all ranks' memory, most and now. */
static void print(const struct heat *heat, uint64_t hash, const double sums[3],
                  const double seconds[2]) {
    const int *g = heat->grid, *n = heat->box.whole;
    bool deep = heat->dimensions == 3;
    char grid[64], points[64];
    snprintf(grid, sizeof grid, deep ? "%dx%dx%d" : "%dx%d", g[0], g[1], g[2]);
    snprintf(points, sizeof points, deep ? "%dx%dx%d" : "%dx%d", n[0], n[1], n[2]);
    printf(
        "%s ranks=%d grid=%s points=%s iterations=%d seconds=%.6f communication=%.6f mean=%.6f hash=%016llx rss=%.1f pss=%.1f\n",
        heat->name, heat->ranks, grid, points, heat->iterations, seconds[0], seconds[1],
        sums[0] / n[0] / n[1] / n[2], (unsigned long long)hash, sums[1], sums[2]);
}

int heat_end(struct heat *heat, const double *field,
             double *(*alone)(const struct box *whole, int iterations)) {
    double mine[2] = {heat->seconds, heat->communication}, slowest[2] = {0, 0};
    double sum[3] = {0, memory_peak(), memory_share()}, sums[3];
    uint64_t hash = hash_of(&heat->box, field, sum), hashes = 0;
    MPI_Reduce(mine, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, heat->comm);
    /* Not MPI_Reduce: nobody may give memory back before all have counted theirs. */
    MPI_Allreduce(sum, sums, 3, MPI_DOUBLE, MPI_SUM, heat->comm);
    MPI_Reduce(&hash, &hashes, 1, MPI_UINT64_T, MPI_SUM, 0, heat->comm);
    int failed = 0;
    double *all = heat->verify || heat->image ? gather(heat, field) : NULL;
    if (heat->me == 0) print(heat, hashes, sums, slowest);
    if (heat->me == 0 && heat->image && !save(heat, all)) {
        perror(heat->image);
        failed = 1;
    }
    if (heat->me == 0 && heat->verify) {
        struct box whole = heat->box;
        memset(whole.first, 0, sizeof whole.first);
        memcpy(whole.size, whole.whole, sizeof whole.size);
        double *reference = alone(&whole, heat->iterations);
        long wrong = differences(heat, all, reference);
        printf("%s verify: %ld points differ from those of one rank\n", heat->name, wrong);
        failed |= wrong != 0;
        free(reference);
    }
    free(all);
    MPI_Bcast(&failed, 1, MPI_INT, 0, heat->comm);
    MPI_Comm_free(&heat->comm);
    MPI_Finalize();
    return failed;
}
