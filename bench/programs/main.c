/* SPDX-License-Identifier: BSD-3-Clause */
/* main - the options, MPI_Init, the program, MPI_Finalize, and a line of what took how long and
 * how much memory, all of rank 0. The line appears after MPI_Finalize, and no rank asks another
 * whether its results were right: a program makes the MPI calls of its own file and no more. Only
 * --shares adds two, at the end. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const struct program {
    const char *name, *about;
    int size, iterations;
    void (*run)(struct run *run);
} programs[] = {
#define PROGRAM(name, size, iterations, about) {#name, about, size, iterations, program_##name},
#include "list.h"
#undef PROGRAM
};
enum { count_of_programs = sizeof programs / sizeof *programs };

static const char *const spent_names[KINDS_OF_SPENDING] = {
    "allreduce", "alltoall",       "bcast",     "barrier",
    "reduce",    "point_to_point", "one_sided", "communicators"};

void compute(struct run *run, int passes) {
    for (int pass = 0; pass < passes; pass++)
        for (int i = 0; i < most_words; i++) run->words[i] = run->words[i] * 0.999 + 0.001;
}

static void *there(void *room) {
    if (room) return room;
    fprintf(stderr, "no memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

double *memory(size_t doubles) { return there(calloc(doubles, sizeof(double))); }

void *untouched(size_t bytes) { return there(malloc(bytes)); }

int drawn(int a, int b, int below) {
    unsigned x = (unsigned)a * 0x9e3779b1u + (unsigned)b * 0x85ebca77u + 0x165667b1u;
    x = (x ^ (x >> 15)) * 0x2c1b3c6du;
    x = (x ^ (x >> 12)) * 0x297a2d39u;
    return (int)((x ^ (x >> 15)) % (unsigned)below);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void help(FILE *file) {
    fprintf(file, "usage: mpirun -n P programs PROGRAM [--size N] [--iterations N] [--split] "
                  "[--advise] [--shares]\n");
    for (int i = 0; i < count_of_programs; i++)
        fprintf(file, "  %-14s %s (size %d, iterations %d)\n", programs[i].name, programs[i].about,
                programs[i].size, programs[i].iterations);
    fprintf(
        file,
        "  --split        communicators: MPI_Comm_split into groups of 2 to 8 ranks, not MPI_Comm_dup\n"
        "  --advise       gather, triad, touch: ask for huge pages, as numpy does\n"
        "  --shares       also say what share of the time MPI calls took, the mean over ranks\n");
}

static const struct program *find(const char *name) {
    for (int i = 0; name && i < count_of_programs; i++)
        if (strcmp(name, programs[i].name) == 0) return &programs[i];
    return NULL;
}

/* A number from 1 to a million; 0: the text is none. */
static int number(const char *text) {
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    return text && !*end && value > 0 && value <= 1000000 ? (int)value : 0;
}

/* NULL: it said what is wrong. */
static const struct program *read_words(char **words, struct run *run) {
    const struct program *program = find(words[1]);
    if (!program) {
        fprintf(stderr, "programs: \"%s\": expected a program\n", words[1] ? words[1] : "");
        help(stderr);
        return NULL;
    }
    run->size = program->size, run->iterations = program->iterations;
    for (char **word = words + 2; *word; word++) {
        int *value = strcmp(*word, "--size") == 0         ? &run->size
                     : strcmp(*word, "--iterations") == 0 ? &run->iterations
                                                          : NULL;
        if (strcmp(*word, "--split") == 0) run->split = true;
        else if (strcmp(*word, "--advise") == 0) run->advise = true;
        else if (strcmp(*word, "--shares") == 0) run->shares = true;
        else if (!value) return fprintf(stderr, "programs: unknown option %s\n", *word), NULL;
        else if (!(*value = number(*++word))) {
            fprintf(stderr, "programs: %s %s: expected a number from 1 to 1000000\n", word[-1],
                    *word ? *word : "");
            return NULL;
        }
    }
    return program;
}

/* Shares of the seconds inside, of all ranks together, in per cent, as text on the first rank. */
static void shares(struct run *run, double inside, char *text, size_t size) {
    double sums[KINDS_OF_SPENDING], all;
    int length = 0;
    MPI_Reduce(run->seconds, sums, KINDS_OF_SPENDING, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&inside, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; run->me == 0 && i < KINDS_OF_SPENDING; i++)
        if (sums[i] > 0)
            length += snprintf(text + length, size - (size_t)length, " %s=%.1f", spent_names[i],
                               100 * sums[i] / all);
}

/* What this process and its children have used until now. */
static struct used {
    double seconds; /* of processors */
    long faults;    /* of pages, without reading a file */
} used_now(void) {
    struct used used = {0};
    const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (int i = 0; i < 2; i++) {
        struct rusage usage;
        getrusage(whose[i], &usage);
        used.seconds += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                        1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
        used.faults += usage.ru_minflt;
    }
    return used;
}

int main(int count, char **words) {
    static struct run run;
    char text[160] = "";
    if (count > 1 && strcmp(words[1], "--help") == 0) return help(stdout), 0;
    const struct program *program = read_words(words, &run);
    if (!program) return 2;
    double start = seconds_now();
    MPI_Init(&count, &words);
    double begin = seconds_now();
    struct used before = used_now();
    MPI_Comm_size(MPI_COMM_WORLD, &run.p);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.me);
    program->run(&run);
    double end = seconds_now();
    struct used after = used_now();
    if (run.shares) shares(&run, end - begin, text, sizeof text);
    double last = seconds_now();
    MPI_Finalize();
    double stop = seconds_now();
    if (run.wrong)
        fprintf(stderr, "%s: rank %d: %ld WRONG results\n", program->name, run.me, run.wrong);
    if (run.me != 0 || run.wrong) return run.wrong != 0;
    struct figures *f = &run.figures;
    printf("%s ranks=%d size=%d iterations=%d init=%.6f inside=%.6f finalize=%.6f busy=%.6f",
           program->name, run.p, run.size, run.iterations, begin - start, end - begin, stop - last,
           after.seconds - before.seconds);
    printf(" rss=%.1f pss=%.1f private=%.1f huge=%.1f faults=%ld answer=%s%s\n", f->rss, f->pss,
           f->private, f->huge, after.faults - before.faults, run.answer ? run.answer : "none",
           text);
    return 0;
}
