/* SPDX-License-Identifier: BSD-3-Clause */
/* arrays - gather, triad, touch, fields and columns: arrays, and no collective. What a program's
 * own memory is worth to it: huge pages, page faults, how far it is, sets of the caches. --size is
 * the MiB of an array, of fields the KiB. With --advise the array is advised for huge pages, as
 * numpy does with large ones. */
#define _GNU_SOURCE
#include "program.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { page = 4096, doubles_of_page = page / sizeof(double), gathered = 8 << 20 };

static size_t doubles_of(const struct run *run) {
    return (size_t)run->size * ((1 << 20) / sizeof(double));
}

/* Not zeroed, not touched. */
static double *array(const struct run *run) {
    size_t bytes = doubles_of(run) * sizeof(double);
    double *a = untouched(bytes);
    uintptr_t first = ((uintptr_t)a + page - 1) & ~(uintptr_t)(page - 1);
    uintptr_t end = ((uintptr_t)a + bytes) & ~(uintptr_t)(page - 1);
    if (run->advise && end > first) madvise((void *)first, end - first, MADV_HUGEPAGE);
    return a;
}

/* --iterations times 8 Mi elements of one array, at random. */
void program_gather(struct run *run) {
    size_t count = doubles_of(run);
    double *a = array(run);
    for (size_t i = 0; i < count; i++) a[i] = (double)i;
    uint64_t x = 1;
    for (int step = 0; step < run->iterations; step++)
        for (int k = 0; k < gathered; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            size_t i = (size_t)(((x >> 32) * count) >> 32);
            run->wrong += a[i] != (double)i;
        }
    look(run);
    free(a);
}

/* --iterations times a = b + 3 c. */
void program_triad(struct run *run) {
    size_t count = doubles_of(run);
    double *a = array(run), *b = array(run), *c = array(run);
    for (size_t i = 0; i < count; i++) a[i] = 0, b[i] = (double)i, c[i] = 1;
    for (int step = 1; step <= run->iterations; step++) {
        for (size_t i = 0; i < count; i++) a[i] = b[i] + 3 * c[i];
        size_t at = (size_t)drawn(step, 0, (int)count);
        run->wrong += a[at] != (double)at + 3 * c[at];
        c[at] = step;
    }
    look(run);
    free(a);
    free(b);
    free(c);
}

/* --iterations arrays, none of them freed before the last: a write to each page. */
void program_touch(struct run *run) {
    size_t count = doubles_of(run);
    double **arrays = untouched((size_t)run->iterations * sizeof *arrays);
    for (int k = 0; k < run->iterations; k++) {
        arrays[k] = array(run);
        for (size_t i = 0; i < count; i += doubles_of_page) arrays[k][i] = (double)(i + 1);
    }
    look(run);
    for (int k = 0; k < run->iterations; k++) {
        for (size_t i = 0; i < count; i += doubles_of_page)
            run->wrong += arrays[k][i] != (double)(i + 1);
        free(arrays[k]);
    }
    free(arrays);
}

/* --iterations times a sum of the same element of several arrays, as codes with many fields do. */
void program_fields(struct run *run) {
    enum { fields = 12 };
    size_t count = (size_t)run->size * (1024 / sizeof(double));
    double *field[fields];
    for (int k = 0; k < fields; k++) {
        field[k] = untouched(count * sizeof *field[k]);
        for (size_t i = 0; i < count; i++) field[k][i] = (double)(i % 1024) * k;
    }
    for (int step = 0; step < run->iterations; step++)
        for (size_t i = 0; i < count; i++) {
            double sum = step;
            for (int k = 1; k < fields; k++) sum += field[k][i];
            field[0][i] = sum;
        }
    look(run);
    for (size_t i = 0; i < count; i++)
        run->wrong += field[0][i] != run->iterations - 1 + (double)(i % 1024) * 66;
    for (int k = 0; k < fields; k++) free(field[k]);
}

/* --iterations times all columns of a square matrix of --size rows, each a block of its own. */
void program_columns(struct run *run) {
    int n = run->size;
    double **row = untouched((size_t)n * sizeof *row);
    for (int i = 0; i < n; i++) {
        row[i] = untouched((size_t)n * sizeof *row[i]);
        for (int j = 0; j < n; j++) row[i][j] = j;
    }
    for (int step = 0; step < run->iterations; step++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int i = 0; i < n; i++) sum += row[i][j];
            run->wrong += sum != (double)n * j;
        }
    look(run);
    for (int i = 0; i < n; i++) free(row[i]);
    free(row);
}
