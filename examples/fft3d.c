/* SPDX-License-Identifier: BSD-3-Clause */
/* fft3d - an ordinary MPI program: the NAS Parallel Benchmark FT, the application of Li et al. 2018
 * (section 4.2, figure 14). The spectrum of a field of complex numbers decays from iteration to
 * iteration; each time it is transformed back, and a checksum of the field is taken and compared.
 * ft.h defines the benchmark.
 *
 * FFTW transforms the lines of one direction after the other; in between the grid is transposed
 * (pencils.h): among all ranks at once, as slabs, or within rows and then within columns of them,
 * as pencils. The points of a line along y or z lie far from each other in memory, often a power of
 * two, so that a cache holds few of them; bundles of lines are copied to where they lie closely.
 *
 * usage: fft3d [--class S|W|A|B] [--decomposition slab|pencil] [--types] [--iterations I]
 * (S, slab, as many iterations as the class has; those beyond are not compared.) --types: subarrays
 * instead of packed blocks. It prints whether the checksums are right; the seconds of the whole
 * benchmark, those within the transposes, and those within the calls of MPI there, each of the
 * slowest rank; and MiB of all ranks: the most that was resident, and what they take at the end. */
#include "ft.h"
#include "memory.h"
#include "pencils.h"

#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUNDLE = 8 }; /* lines, side by side in x */

struct words {
    char class;
    bool slab, types;
    int n[DIRECTIONS], iterations;
};

struct fft {
    struct words words;
    struct pencils p;
    double complex *spectrum, *bundle; /* bundle: [n][BUNDLE], room for the longest lines */
    fftw_plan plan[WAYS][DIRECTIONS];  /* x: all lines of the field; y, z: a bundle */
    double *decay[DIRECTIONS], seconds;
    int wrong; /* checksums */
};

static void stop(const char *why, const char *what) {
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) fprintf(stderr, "fft3d: %s%s\n", why, what ? what : "nothing");
    MPI_Finalize();
    exit(2);
}

static int number(const char *text) {
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || *end || value < 1 || value > 1000000)
        stop("--iterations: expected a number from 1 to 1000000, not ", text);
    return (int)value;
}

static struct words read_words(char **word) {
    struct words w = {.class = 'S', .slab = true};
    int iterations = 0;
    while (*++word) {
        if (strcmp(*word, "--types") == 0) w.types = true;
        else if (strcmp(*word, "--iterations") == 0) iterations = number(*++word);
        else if (strcmp(*word, "--class") == 0) {
            if (!*++word || strlen(*word) != 1 || !strchr("SWAB", **word))
                stop("--class: expected S, W, A or B, not ", *word);
            w.class = **word;
        } else if (strcmp(*word, "--decomposition") == 0) {
            w.slab = *++word && strcmp(*word, "slab") == 0;
            if (!*word || (!w.slab && strcmp(*word, "pencil") != 0))
                stop("--decomposition: expected slab or pencil, not ", *word);
        } else
            stop("usage: [--class S|W|A|B] [--decomposition slab|pencil] [--types] "
                 "[--iterations I], not ",
                 *word);
    }
    ft_class(w.class, w.n, &w.iterations);
    if (iterations) w.iterations = iterations;
    return w;
}

static fftw_plan plan_lines(const struct fft *fft, int way, int whole) {
    const int *n = fft->p.box[whole].size, sign = way == FORTH ? FFTW_FORWARD : FFTW_BACKWARD;
    double complex *field = fft->p.field, *bundle = fft->bundle;
    if (whole == X)
        return fftw_plan_many_dft(1, &n[X], n[Y] * n[Z], field, NULL, 1, n[X], field, NULL, 1, n[X],
                                  sign, FFTW_ESTIMATE);
    return fftw_plan_many_dft(1, &n[whole], BUNDLE, bundle, NULL, BUNDLE, 1, bundle, NULL, BUNDLE,
                              1, sign, FFTW_ESTIMATE);
}

static void prepare(struct fft *fft) {
    struct pencils *p = &fft->p;
    fft->spectrum = pencils_memory(p);
    int longest = p->n[Y] > p->n[Z] ? p->n[Y] : p->n[Z];
    fft->bundle = fftw_alloc_complex((size_t)BUNDLE * (size_t)longest);
    for (int k = 0; k < DIRECTIONS; k++) {
        for (int way = 0; way < WAYS; way++) fft->plan[way][k] = plan_lines(fft, way, k);
        fft->decay[k] = fftw_alloc_real((size_t)p->n[k]);
        for (int i = 0; i < p->n[k]; i++) fft->decay[k][i] = ft_decay(i, p->n[k]);
    }
}

/* The field as it is at first. */
static void start(struct pencils *p) {
    const struct box *box = &p->box[X];
    for (int z = 0; z < box->size[Z]; z++)
        for (int y = 0; y < box->size[Y]; y++) {
            long long rows = (long long)(box->first[Z] + z) * p->n[Y] + box->first[Y] + y;
            ft_start(rows * p->n[X], p->n[X], p->field + box_row(box, y, z));
        }
}

/* Transforms all lines of that direction, in which they are whole. */
static void lines(const struct fft *fft, int way, int whole) {
    const struct box *box = &fft->p.box[whole];
    double complex *field = fft->p.field;
    if (whole == X) {
        fftw_execute_dft(fft->plan[way][X], field, field);
        return;
    }
    int other = Y + Z - whole, most = box->size[X];
    size_t next = box_row(box, whole == Y, whole == Z); /* point of a line */
    size_t beside = box_row(box, other == Y, other == Z);
    for (int i = 0; i < box->size[other]; i++)
        for (int x = 0; x < most; x += BUNDLE) {
            double complex *first = field + (size_t)i * beside + (size_t)x;
            size_t bytes = (size_t)(most - x < BUNDLE ? most - x : BUNDLE) * sizeof *first;
            for (size_t k = 0; k < (size_t)box->size[whole]; k++)
                memcpy(fft->bundle + k * BUNDLE, first + k * next, bytes);
            fftw_execute(fft->plan[way][whole]);
            for (size_t k = 0; k < (size_t)box->size[whole]; k++)
                memcpy(first + k * next, fft->bundle + k * BUNDLE, bytes);
        }
}

/* From the field, whose lines along x are whole, to the spectrum, whose lines along z are, or
 * back. */
static void transform(struct fft *fft, int way) {
    lines(fft, way, way == FORTH ? X : Z);
    pencils_transpose(&fft->p, way == FORTH ? X : Y, way);
    lines(fft, way, Y);
    pencils_transpose(&fft->p, way == FORTH ? Y : X, way);
    lines(fft, way, way == FORTH ? Z : X);
}

/* The next spectrum, and a copy of it where the field will be. */
static void evolve(struct fft *fft) {
    const struct box *box = &fft->p.box[Z];
    for (int z = 0; z < box->size[Z]; z++)
        for (int y = 0; y < box->size[Y]; y++) {
            double complex *spectrum = fft->spectrum + box_row(box, y, z);
            double complex *field = fft->p.field + box_row(box, y, z);
            const double *decay = fft->decay[X] + box->first[X];
            double yz = fft->decay[Y][box->first[Y] + y] * fft->decay[Z][box->first[Z] + z];
            for (int x = 0; x < box->size[X]; x++) field[x] = spectrum[x] *= yz * decay[x];
        }
}

static double complex checksum(const struct fft *fft) {
    const struct pencils *p = &fft->p;
    const struct box *box = &p->box[X];
    double complex mine = 0, sum;
    for (int j = 1; j <= FT_CHECKED; j++) {
        int x = j % p->n[X], y = 3 * j % p->n[Y] - box->first[Y],
            z = 5 * j % p->n[Z] - box->first[Z];
        if (y >= 0 && y < box->size[Y] && z >= 0 && z < box->size[Z])
            mine += p->field[box_row(box, y, z) + (size_t)x];
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, p->comm);
    return sum / p->n[X] / p->n[Y] / p->n[Z];
}

/* One transform goes before, without being timed, as the benchmark has it. */
static void run(struct fft *fft) {
    struct pencils *p = &fft->p;
    start(p);
    transform(fft, FORTH);
    p->transposing = p->communicating = 0;
    MPI_Barrier(p->comm);
    double begin = MPI_Wtime();
    start(p);
    transform(fft, FORTH);
    memcpy(fft->spectrum, p->field, box_points(&p->box[Z]) * sizeof *p->field);
    for (int i = 1; i <= fft->words.iterations; i++) {
        evolve(fft);
        transform(fft, BACK);
        double complex sum = checksum(fft);
        if (ft_right(fft->words.class, i, sum)) continue;
        fft->wrong++;
        if (p->me == 0)
            fprintf(stderr, "fft3d: iteration %d: wrong checksum %.12g %+.12g i\n", i, creal(sum),
                    cimag(sum));
    }
    fft->seconds = MPI_Wtime() - begin;
}

static void print(const struct fft *fft) {
    const struct pencils *p = &fft->p;
    double mine[] = {fft->seconds, p->transposing, p->communicating}, slowest[3];
    double memory[] = {memory_peak(), memory_share()}, all[2];
    MPI_Reduce(mine, slowest, 3, MPI_DOUBLE, MPI_MAX, 0, p->comm);
    /* Not MPI_Reduce: nobody may give memory back before all have counted theirs. */
    MPI_Allreduce(memory, all, 2, MPI_DOUBLE, MPI_SUM, p->comm);
    if (p->me != 0) return;
    printf("fft3d class=%c ranks=%d grid=%dx%d points=%dx%dx%d iterations=%d verification=%s",
           fft->words.class, p->ranks, p->grid[ROW], p->grid[COLUMN], p->n[X], p->n[Y], p->n[Z],
           fft->words.iterations, fft->wrong ? "failed" : "successful");
    printf(" seconds=%.6f transposes=%.6f communication=%.6f rss=%.1f pss=%.1f\n", slowest[0],
           slowest[1], slowest[2], all[0], all[1]);
}

static void end(struct fft *fft) {
    for (int k = 0; k < DIRECTIONS; k++) {
        for (int way = 0; way < WAYS; way++) fftw_destroy_plan(fft->plan[way][k]);
        fftw_free(fft->decay[k]);
    }
    fftw_free(fft->spectrum), fftw_free(fft->bundle);
    pencils_free(&fft->p);
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    struct fft fft = {.words = read_words(words)};
    fft.p = pencils_new(fft.words.n, fft.words.slab, fft.words.types);
    prepare(&fft);
    run(&fft);
    print(&fft);
    end(&fft);
    MPI_Finalize();
    return fft.wrong != 0;
}
