/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators - `mortar bench communicators`: settings, then for each way to make communicators
 * and each number of calls: two sides in turns, and a row. */
#include "communicators.h"

#include "commit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { sides = 2, least_repetitions = 5, most_repetitions = 1000, most_communicators = 10000 };
static const double batch_seconds = 20e-3;
static const char header[] =
    "ranks,nodes,group,calls,bytes,communicators,side,repetition,seconds,mpi,machine,commit\n";
static FILE *csv;

/* The repetitions of a row. */
struct results {
    long communicators; /* of a repetition, on either side */
    int repetitions;
    double *seconds[sides]; /* [repetitions] per communicator */
    long wrong[sides];      /* values on this rank */
};

static void find_native(void *function, const char *name) {
    void *symbol = library_symbol(name);
    memcpy(function, &symbol, sizeof symbol);
}

/* Without mortar both are the library's. */
static void find_sides(const struct world *world, struct maker makers[sides]) {
    makers[0] = (struct maker){.name = "native", .functions = &library};
    find_native(&makers[0].comm_dup, "PMPI_Comm_dup");
    find_native(&makers[0].comm_split, "PMPI_Comm_split");
    find_native(&makers[0].comm_free, "PMPI_Comm_free");
    makers[1] = (struct maker){.name = world->loaded ? "mortar" : "native-again",
                               .functions = &caught,
                               .comm_dup = MPI_Comm_dup,
                               .comm_split = MPI_Comm_split,
                               .comm_free = MPI_Comm_free};
}

/* Seconds for each communicator, once there are enough of them: the first ones are slow. */
static double calibrate(const struct life *life, const struct maker *maker, long *wrong) {
    for (long communicators = 1;; communicators *= 4) {
        double each = live(life, maker, communicators, wrong);
        if (communicators > 1 && each * (double)communicators > batch_seconds / 4) return each;
        if (communicators > most_communicators) return each;
    }
}

/* How many communicators make a batch of 20 ms of the slower side, and how many repetitions fit
 * into the time. */
static void plan(const struct life *life, const struct communicators_settings *settings,
                 const struct maker *makers, struct results *results) {
    double slower = 0, both = 0;
    for (int side = 0; side < sides; side++) {
        double each = calibrate(life, &makers[side], &results->wrong[side]);
        both += each;
        if (each > slower) slower = each;
    }
    double fit = batch_seconds / slower;
    results->communicators = fit < 1                    ? 1
                             : fit > most_communicators ? most_communicators
                                                        : (long)fit;
    fit = settings->seconds / (both * (double)results->communicators);
    results->repetitions = fit < least_repetitions  ? least_repetitions
                           : fit > most_repetitions ? most_repetitions
                                                    : (int)fit;
    if (settings->repetitions) results->repetitions = settings->repetitions;
}

static bool measure(const struct life *life, const struct communicators_settings *settings,
                    const struct maker *makers, struct results *results) {
    plan(life, settings, makers, results);
    for (int side = 0; side < sides; side++)
        results->seconds[side] = calloc((size_t)results->repetitions, sizeof(double));
    if (meet_max(!results->seconds[0] || !results->seconds[1]) != 0) return false;
    for (int r = 0; r < results->repetitions; r++)
        for (int k = 0; k < sides; k++) {
            int side = (k + r) % sides;
            results->seconds[side][r] =
                live(life, &makers[side], results->communicators, &results->wrong[side]);
        }
    bool fine = true;
    for (int side = 0; side < sides; side++) {
        if (results->wrong[side])
            fprintf(
                stderr,
                "mortar bench communicators: WRONG RESULT of %s: rank %d of %d, %ld values, %ld calls on each communicator\n",
                makers[side].name, life->world->me, life->world->p, results->wrong[side],
                life->calls);
        fine = fine && !results->wrong[side];
    }
    return meet_max(!fine) == 0;
}

/* ---- the table: on the first rank ---- */

static void print_head(const struct world *world, const struct communicators_settings *settings) {
    printf("mortar bench communicators: %d rank%s on %d node%s, here %d processor%s; %s\n",
           world->p, world->p == 1 ? "" : "s", world->nodes, world->nodes == 1 ? "" : "s",
           world->processors, world->processors == 1 ? "" : "s", world->mpi);
    if (!world->loaded)
        printf("mortar is %s: both columns are the library's own (A/A), their ratio is the noise\n",
               world->plan ? "loaded but does not serve this MPI" : "not loaded");
    printf(
        "MPI_Comm_%s, allreduce and alltoall of %zu bytes in turns, MPI_Comm_free; ms for each communicator\n",
        settings->groups.sizes ? "split" : "dup", settings->bytes);
    printf("%9s %9s %14s %12s %12s %8s %7s %8s %8s\n", "ranks", "calls", "communicators",
           "native ms", world->loaded ? "mortar ms" : "native ms", "ratio", "spread", "least",
           "most");
    fflush(stdout);
}

static void print_row(const struct life *life, const struct results *results) {
    const double *native = results->seconds[0], *mine = results->seconds[1];
    int n = results->repetitions;
    double spread, ratio = median(native, mine, n, &spread), least = ratio, most = ratio;
    for (int r = 0; r < n; r++) {
        double here = native[r] / mine[r];
        if (here < least) least = here;
        if (here > most) most = here;
    }
    printf("%9d %9ld %14ld %12.4f %12.4f %8.2f %6.0f%% %8.2f %8.2f\n",
           life->group ? life->group : life->world->p, life->calls, results->communicators * n,
           1e3 * median(native, NULL, n, NULL), 1e3 * median(mine, NULL, n, NULL), ratio,
           100 * spread, least, most);
    fflush(stdout);
}

static void write_rows(const struct life *life, const struct communicators_settings *settings,
                       const struct maker *makers, const struct results *results) {
    for (int side = 0; csv && side < sides; side++)
        for (int r = 0; r < results->repetitions; r++) {
            fprintf(csv, "%d,%d,%d,%ld,%zu,%ld,%s,%d,%.9g,", life->world->p, life->world->nodes,
                    life->group, life->calls, settings->bytes, results->communicators,
                    makers[side].name, r, results->seconds[side][r]);
            csv_text(csv, life->world->mpi);
            fputc(',', csv);
            csv_text(csv, life->world->machine);
            fprintf(csv, ",%s\n", BENCH_COMMIT);
        }
    if (csv) fflush(csv);
}

/* ---- the order of the work ---- */

/* 0 or an exit code. */
static int one_row(const struct communicators_settings *settings, const struct maker *makers,
                   struct life *life) {
    struct results results = {0};
    bool fine = life_open(life, settings->bytes);
    if (fine) {
        fine = measure(life, settings, makers, &results);
        life_close(life);
    }
    if (fine && life->world->me == 0) {
        print_row(life, &results);
        write_rows(life, settings, makers, &results);
    }
    for (int side = 0; side < sides; side++) free(results.seconds[side]);
    return !fine;
}

static int check(const struct world *world, const struct communicators_settings *settings) {
    for (int i = 0; i < settings->groups.sizes; i++)
        if (settings->groups.bytes[i] > (size_t)world->p)
            return world->me == 0 ? settings_fail("--groups %zu: there are %d ranks",
                                                  settings->groups.bytes[i], world->p)
                                  : 2;
    return 0;
}

static int all(const struct communicators_settings *settings) {
    struct world world;
    struct maker makers[sides];
    if (world_look(&world) != 0) return 1;
    if (check(&world, settings) != 0) return 2;
    world_warn(&world);
    meet_open(&world);
    find_sides(&world, makers);
    if (settings->csv && world.me == 0) csv = csv_open(settings->csv, header);
    if (meet_first(settings->csv && !csv)) return 2;
    if (world.me == 0) print_head(&world, settings);
    int code = 0, groups = settings->groups.sizes;
    for (int g = 0; g < (groups ? groups : 1) && !code; g++)
        for (int i = 0; i < settings->calls.sizes && !code; i++) {
            struct life life = {.world = &world, .calls = (long)settings->calls.bytes[i]};
            if (groups) life.group = (int)settings->groups.bytes[g];
            code = one_row(settings, makers, &life);
        }
    if (world.me == 0 && csv_close(csv) != 0) code = 1;
    return code;
}

int communicators(int count, char **words) {
    static struct communicators_settings settings;
    int code = communicators_settings_read(count, words, &settings);
    if (code >= 0) return code;
    MPI_Init(&count, &words);
    code = all(&settings);
    MPI_Finalize();
    return code;
}
