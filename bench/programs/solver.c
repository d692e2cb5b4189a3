/* SPDX-License-Identifier: BSD-3-Clause */
/* solver - conjugate gradients for the five-point Laplacian on --size x --size points, whose rows
 * are shared out among the ranks. An iteration exchanges a row with each neighbour and makes two
 * allreduces: one of 8 bytes, and one of 56 bytes, the residual together with what such codes
 * watch. In the end what is left over is computed afresh: had a halo been wrong on the way, it
 * would not be what the iterations kept. With wrong sums they would not converge. */
#include "program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { watched = 7 };

struct field {
    int n, rows;  /* columns; rows of this rank */
    int up, down; /* neighbours, or MPI_PROC_NULL */
    double *b, *x, *r, *q;
    double *d; /* with a row of its neighbours' on either side */
};

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

/* The sum over ranks. */
static double sum_of(struct run *run, double mine) {
    double sum;
    SPEND(run, ALLREDUCE, MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return sum;
}

static void halo(struct run *run, const struct field *f) {
    size_t n = (size_t)f->n, last = (size_t)f->rows * n;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    double begin = spent_begin(run);
    MPI_Irecv(f->d, f->n, MPI_DOUBLE, f->up, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(f->d + last + n, f->n, MPI_DOUBLE, f->down, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(f->d + n, f->n, MPI_DOUBLE, f->up, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(f->d + last, f->n, MPI_DOUBLE, f->down, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses);
    spent_end(run, POINT_TO_POINT, begin);
}

/* q = A d */
static void multiply(const struct field *f) {
    int n = f->n;
    for (int i = 0; i < f->rows; i++) {
        const double *d = f->d + (size_t)(i + 1) * (size_t)n;
        double *q = f->q + (size_t)i * (size_t)n;
        for (int j = 0; j < n; j++)
            q[j] = 4.01 * d[j] - d[j - n] - d[j + n] - (j > 0 ? d[j - 1] : 0) -
                   (j < n - 1 ? d[j + 1] : 0);
    }
}

/* The residual, and six sums of what a monitor prints, some of which are known here. */
static double watch(struct run *run, const struct field *f, double residual, int iteration) {
    double mine[watched] = {residual, iteration, f->rows, run->me, 1, f->x[0], f->r[0]};
    double sums[watched];
    SPEND(run, ALLREDUCE, MPI_Allreduce(mine, sums, watched, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    run->wrong += sums[1] != (double)run->p * iteration || sums[2] != f->n || sums[4] != run->p;
    run->wrong += sums[3] != run->p * (run->p - 1) / 2.0;
    return sums[0];
}

/* One iteration; returns the new residual. */
static double iterate(struct run *run, struct field *f, double residual, int iteration) {
    size_t n = (size_t)f->n, count = (size_t)f->rows * n;
    double *d = f->d + n;
    halo(run, f);
    multiply(f);
    double alpha = residual / sum_of(run, dot(d, f->q, count));
    for (size_t i = 0; i < count; i++) f->x[i] += alpha * d[i], f->r[i] -= alpha * f->q[i];
    double next = watch(run, f, dot(f->r, f->r, count), iteration);
    for (size_t i = 0; i < count; i++) d[i] = f->r[i] + next / residual * d[i];
    return next;
}

/* b - A x must be r. */
static void check(struct run *run, struct field *f) {
    size_t n = (size_t)f->n, count = (size_t)f->rows * n;
    memcpy(f->d + n, f->x, count * sizeof *f->x);
    halo(run, f);
    multiply(f);
    for (size_t i = 0; i < count; i++) run->wrong += !(fabs(f->b[i] - f->q[i] - f->r[i]) < 1e-9);
}

void program_solver(struct run *run) {
    if (run->size < run->p) run->size = run->p; /* a row for each rank */
    int n = run->size, first = n * run->me / run->p, end = n * (run->me + 1) / run->p;
    struct field f = {.n = n, .rows = end - first, .up = run->me - 1, .down = run->me + 1};
    if (run->me == 0) f.up = MPI_PROC_NULL;
    if (run->me == run->p - 1) f.down = MPI_PROC_NULL;
    size_t count = (size_t)f.rows * (size_t)n, halos = 2 * (size_t)n;
    f.b = memory(count), f.x = memory(count), f.r = memory(count), f.q = memory(count);
    f.d = memory(count + halos);
    for (size_t i = 0; i < count; i++)
        f.b[i] = f.r[i] = f.d[(size_t)n + i] = 1 + drawn(run->me, (int)i, 8);
    double start = sum_of(run, dot(f.r, f.r, count)), residual = start;
    for (int i = 0; i < run->iterations && residual > 1e-24 * start; i++)
        residual = iterate(run, &f, residual, i);
    /* Far more iterations than it takes, if the sums were right. */
    run->wrong += run->iterations >= 2 * n && !(residual < 1e-3 * start);
    check(run, &f);
    free(f.b), free(f.x), free(f.r), free(f.q), free(f.d);
}
