/* SPDX-License-Identifier: BSD-3-Clause */
/* output - the table and the CSV file. */
#include "contest.h"
#include "commit.h"
#include "heap/heap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool alike; /* a column for the number of calls, which is that of all contestants */
static const char header[] =
    "collective,ranks,nodes,bytes,buffers,caches,counts,topology,grid,axes,root,then,imbalance_ms,plan,repetition,calls,seconds,"
    "l1_misses,l2_misses,l3_misses,write_stalls,issue_stalls,mpi,machine,commit\n";
static FILE *csv;

/* ---- CSV ---- */

/* What distinguishes this cell from others of the collective; empty where that says nothing. */
static void csv_conditions(const struct settings *settings, const struct cell *cell) {
    fprintf(csv, "%s,%s,%s,", buffers_names[settings->buffers],
            settings->cold  ? "cold"
            : settings->use ? "used"
                            : "warm",
            !cell->kind->vector   ? ""
            : settings->irregular ? "irregular"
                                  : "equal");
    fprintf(csv, "%s,", kind_neighbours(cell->kind) ? topology_names[settings->topology] : "");
    if (kind_grid(cell->kind))
        fprintf(csv, "%d,\"%d,%d\",", cell->grid.edge, cell->grid.before, cell->grid.after);
    else fputs(",,", csv);
    if (kind_rooted(cell->kind)) fprintf(csv, "%d", settings->root);
    fprintf(csv, ",%s,", settings->then_barrier ? "barrier" : "");
    if (cell->imbalance >= 0) fprintf(csv, "%g", cell->imbalance * 1e3);
    fputc(',', csv);
}

static void csv_rows(const struct world *world, const struct settings *settings,
                     const struct cell *cell, const struct contestant *contestant,
                     int repetitions) {
    for (int r = 0; r < repetitions; r++) {
        fprintf(csv, "%s,%d,%d,%zu,", cell->kind->name, world->p, world->nodes, cell->bytes);
        csv_conditions(settings, cell);
        csv_text(csv, contestant->name);
        fprintf(csv, ",%d,%ld,%.9g,", r, contestant->calls, contestant->seconds[r]);
        for (int i = 0; i < count_of_events; i++)
            if (contestant->counts[i]) fprintf(csv, "%.9g,", contestant->counts[i][r]);
            else fputc(',', csv);
        csv_text(csv, world->mpi);
        fputc(',', csv);
        csv_text(csv, world->machine);
        fprintf(csv, ",%s\n", BENCH_COMMIT);
    }
    fflush(csv);
}

/* ---- the table ---- */

/* How calls are made, what is done before each one, and what is counted. */
static void print_conditions(const struct settings *settings) {
    const struct kind *kind = settings->kind;
    if (settings->irregular) printf("counts: irregular, 0 to twice the bytes\n");
    if (kind_neighbours(kind)) printf("neighbours: %s\n", topology_names[settings->topology]);
    if (kind_grid(kind))
        printf("grid of double complex: in slabs along axis %d before, along axis %d after\n",
               settings->before, settings->after);
    if (kind_rooted(kind) && settings->root > 0) printf("root: %d\n", settings->root);
    if (settings->then_barrier) printf("then a barrier, in the time\n");
    if (settings->use)
        printf(
            "used: after each call a rank reads what it received and writes what it sends anew, in the time; use: that alone\n");
    if (settings->imbalance_count > 0)
        printf(
            "imbalance: ranks sleep for 0 to so many ms before each call; a time is the mean over ranks of that inside of it\n");
    if (settings->cold) {
        char how[64];
        cold_describe(how, sizeof how);
        printf("cold: before each call %s, then each rank reads its send and its receive buffer\n",
               how);
    }
    if (!settings->counters) return;
    printf("counted per call, mean over ranks:");
    for (int i = 0; i < count_of_events; i++)
        if (counters_has(i)) printf(" %s", counters_name(i));
    for (int i = 0; i < count_of_events; i++)
        if (!counters_has(i)) printf("; no %s: %s", counters_name(i), counters_lack(i));
    printf("\n");
}

/* The library's counts and mortar's, below the names of the events. */
static void print_counts(const struct contestant *native, const struct contestant *mine,
                         int repetitions) {
    for (int i = 0; i < count_of_events; i++) {
        if (!native->counts[i]) continue;
        int width = 8 + (int)strlen(counters_name(i));
        printf(" %*.0f", width, median(native->counts[i], NULL, repetitions, NULL));
        printf(" %10.0f", median(mine->counts[i], NULL, repetitions, NULL));
    }
}

int output_open(const struct world *world, const struct settings *settings) {
    if (settings->csv && !(csv = csv_open(settings->csv, header))) return 2;
    printf("mortar bench %s: %d rank%s on %d node%s, here %d processor%s; %s, %s\n",
           settings->kind->name, world->p, plural(world->p), world->nodes, plural(world->nodes),
           world->processors, plural(world->processors), world->mpi, library_file());
    if (!world->loaded)
        printf("mortar is %s: both columns are the library's own (A/A), their ratio is the noise\n",
               world->plan ? "loaded but does not serve this MPI" : "not loaded");
    else if (settings->buffers == BUFFERS_OUTSIDE)
        printf("buffers: outside the heap, which peers cannot reach\n");
    else if (world->heap)
        printf("buffers: %s, but private: %s\n", buffers_names[settings->buffers], world->heap);
    else if (settings->buffers == BUFFERS_HEAP)
        printf("buffers: heap, where peers reach what has at most %d bytes, or %d KiB and more\n",
               middle_block - 1, middle_end >> 10);
    else printf("buffers: stack, which peers can reach\n");
    print_conditions(settings);
    alike = settings->imbalance_count == 0 && batches_alike(settings, settings->then_barrier);
    printf("%9s", "bytes");
    if (kind_grid(settings->kind)) printf(" %6s", "grid");
    if (settings->imbalance_count > 0) printf(" %12s", "imbalance ms");
    printf(" %12s %12s %8s %7s", "native us", world->loaded ? "mortar us" : "native us", "ratio",
           "spread");
    if (alike) printf(" %8s", "in a row");
    if (kind_grid(settings->kind)) printf(" %12s %8s", "packed us", "ratio");
    if (settings->use) printf(" %12s", "use us");
    if (settings->limit) printf(" %12s %8s", "limit us", world->loaded ? "/limit" : "nat./lim");
    if (settings->limit && settings->use) printf(" %8s", "less use");
    if (settings->limit && kind_stream(settings->kind)) printf(" %12s %8s", "stream us", "/stream");
    for (int i = 0; settings->counters && i < count_of_events; i++)
        if (counters_has(i)) printf("  native %s %10s", counters_name(i), counters_name(i));
    printf("  %s\n", world->loaded ? "plan" : "");
    fflush(stdout);
    return 0;
}

static void print_time(double seconds) {
    double us = seconds * 1e6;
    printf(" %12.*f", us < 10 ? 2 : us < 1000 ? 1 : 0, us);
}

/* What was asked for, and what ran where that says more. */
static void print_plan(const struct contestant *contestant) {
    const char *asked = contestant->name, *ran = contestant->ran;
    bool automatic = strcmp(asked, "auto") == 0, native = strncmp(ran, "native", 6) == 0;
    if (strcmp(asked, "native-again") == 0) printf("\n");
    else if (!*ran || strcmp(asked, "native") == 0) printf("  %s\n", asked);
    else if (automatic || native) printf("  %s: %s\n", asked, ran);
    else printf("  %s\n", ran);
}

/* A contestant's time, and mine as a multiple of it. */
static void print_beside(const struct contestant *mine, const struct contestant *other,
                         int repetitions) {
    if (!other) return;
    print_time(median(other->seconds, NULL, repetitions, NULL));
    printf(" %8.2f", median(mine->seconds, other->seconds, repetitions, NULL));
}

/* Mine as a multiple of the limit, after the time for using the data has been taken off both: what
 * that takes when nobody else touches them. Where that is all of the limit nothing can be said. */
static void print_less_use(const struct contestant *mine, const struct contestant *limit,
                           const struct contestant *use, int repetitions) {
    double off = median(use->seconds, NULL, repetitions, NULL);
    double rest = median(limit->seconds, NULL, repetitions, NULL) - off;
    if (rest <= 0) printf(" %8s", "-");
    else printf(" %8.2f", (median(mine->seconds, NULL, repetitions, NULL) - off) / rest);
}

static const struct contestant *find(const struct contestant *contestants, int count,
                                     const char *name) {
    for (int c = 0; c < count; c++)
        if (!contestants[c].out && strcmp(contestants[c].name, name) == 0) return &contestants[c];
    return NULL;
}

/* The faster one of two limits. */
static const struct contestant *best_limit(const struct contestant *contestants, int count,
                                           int repetitions) {
    const struct contestant *one = find(contestants, count, "limit"), *other = NULL;
    if (one) other = find(one + 1, (int)(contestants + count - one) - 1, "limit");
    if (!other) return one;
    return median(one->seconds, NULL, repetitions, NULL) <
                   median(other->seconds, NULL, repetitions, NULL)
               ? one
               : other;
}

void output_cell(const struct world *world, const struct settings *settings,
                 const struct cell *cell, const struct contestant *contestants, int count,
                 int repetitions) {
    const struct contestant *native = &contestants[0],
                            *limit = best_limit(contestants, count, repetitions);
    const struct contestant *stream = find(contestants, count, "stream"),
                            *packed = find(contestants, count, "packed"),
                            *use = find(contestants, count, "use");
    char text[32];
    for (int c = 1; c < count; c++) {
        const struct contestant *mine = &contestants[c];
        if (strcmp(mine->name, "limit") == 0 || mine->what == LIMIT_STREAM || mine == packed ||
            mine == use)
            continue;
        double spread, ratio = median(native->seconds, mine->seconds, repetitions, &spread);
        printf("%9s", size_text(cell->bytes, text, sizeof text));
        if (packed) printf(" %6d", cell->grid.edge);
        if (cell->imbalance >= 0) printf(" %12g", cell->imbalance * 1e3);
        print_time(median(native->seconds, NULL, repetitions, NULL));
        print_time(median(mine->seconds, NULL, repetitions, NULL));
        printf(" %8.2f", ratio);
        if (repetitions > 1) printf(" %6.0f%%", spread * 100);
        else printf(" %7s", "-");
        if (alike) printf(" %8ld", mine->calls);
        if (packed) {
            print_time(median(packed->seconds, NULL, repetitions, NULL));
            printf(" %8.2f", median(packed->seconds, mine->seconds, repetitions, NULL));
        }
        if (use) print_time(median(use->seconds, NULL, repetitions, NULL));
        print_beside(mine, limit, repetitions);
        if (use && limit) print_less_use(mine, limit, use, repetitions);
        print_beside(mine, stream, repetitions);
        print_counts(native, mine, repetitions);
        print_plan(mine);
        if (csv) csv_rows(world, settings, cell, mine, repetitions);
    }
    const struct contestant *others[] = {native, packed, use, limit, stream};
    for (size_t c = 0; csv && c < sizeof others / sizeof *others; c++)
        if (others[c]) csv_rows(world, settings, cell, others[c], repetitions);
    fflush(stdout);
}

void output_skip(const struct cell *cell, const char *why) {
    char text[32];
    printf("%9s left out: %s\n", size_text(cell->bytes, text, sizeof text), why);
    fflush(stdout);
}

int output_close(void) { return csv_close(csv); }

void output_progress(const struct world *world, const struct cell *cell, const char *what) {
    char text[32];
    if (world->me == 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%9s %-40s\r", size_text(cell->bytes, text, sizeof text), what);
}
