/* SPDX-License-Identifier: BSD-3-Clause */
/* network - `mortar bench network`: settings, pairs, tests, tables, and the tuning file. Ranks that
 * are in no pair sleep. */
#include "bench/common/bench.h"
#include "network.h"

#include "tuning/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Before anything is measured: can the files be written to? 0 or an exit code; on the first
 * rank. */
static int try_files(const struct network_settings *settings) {
    char why[320];
    struct tuning_file file = {0};
    int error = settings->save ? tuning_writable(settings->save) : 0;
    if (error)
        return fprintf(stderr, "mortar bench network: --save %s: %s\n", settings->save,
                       strerror(-error)),
               2;
    if (settings->save && access(settings->save, F_OK) == 0) {
        if (tuning_read(settings->save, &file, why, sizeof why) != 0)
            return fprintf(
                       stderr,
                       "mortar bench network: --save %s: it is there and is no tuning file: %s\n",
                       settings->save, why),
                   2;
        tuning_free(&file);
    }
    FILE *csv = settings->csv ? csv_open(settings->csv, network_header) : NULL;
    if (settings->csv && !csv) return 2;
    return csv_close(csv);
}

static int save(const struct world *world, const char *path, const struct network_facts *network) {
    char why[320];
    struct tuning_set here;
    tuning_here(&here, world->mpi);
    here.network = *network;
    snprintf(here.network.date, sizeof here.network.date, "%s", here.date);
    struct tuning_file measured = {&here, 1};
    if (tuning_update(path, &measured, why, sizeof why) != 0)
        return fprintf(stderr, "mortar bench network: --save %s: %s\n", path, why), 1;
    printf("\nsaved in %s, for the cost model (MORTAR_TUNING=%s)\n", path, path);
    return 0;
}

/* On the first rank: what the pairs have found. */
static int report(const struct world *world, const struct network_settings *settings,
                  const struct pairs *pairs, const struct figures *figures) {
    network_print(world, settings, pairs, figures);
    int code = settings->csv ? network_csv(world, settings, pairs, figures) : 0;
    if (!settings->save || code) return code;
    struct network_facts facts;
    network_facts_of(settings, pairs, figures, &facts);
    nodes_facts_of(settings, figures, &facts);
    return save(world, settings->save, &facts);
}

static void say_begin(const struct network_settings *settings) {
    int sizes = settings->sizes.sizes, most = settings->pairs[settings->columns - 1];
    fprintf(stderr, "mortar bench network: %d size%s, up to %d pair%s, about %.0f s\n", sizes,
            sizes == 1 ? "" : "s", most, most == 1 ? "" : "s", 1.2 * settings->seconds * sizes + 1);
}

/* The pairs measure; the first rank of them hands the figures to all. Then all nodes do. Returns an
 * exit code. */
static int measure(const struct world *world, const struct network_settings *settings,
                   const struct pairs *pairs) {
    struct figures figures = {.rounds = settings->rounds, .columns = settings->columns};
    size_t count = (size_t)(settings->sizes.sizes + 3) * (size_t)(settings->columns + 1) *
                   (size_t)settings->rounds;
    figures.all = calloc(count, sizeof *figures.all);
    if (meet_max(!figures.all) != 0) return free(figures.all), 1;
    int wrong = pairs->both != MPI_COMM_NULL && !network_measure(pairs, settings, &figures);
    polite_barrier(MPI_COMM_WORLD);
    int code = meet_max(wrong) != 0;
    library.bcast(figures.all, (int)count, MPI_DOUBLE, pairs->first, MPI_COMM_WORLD);
    library.bcast(figures.done, most_sizes + 3, MPI_INT, pairs->first, MPI_COMM_WORLD);
    library.bcast(figures.eager, 2, MPI_DOUBLE, pairs->first, MPI_COMM_WORLD);
    if (!code) {
        wrong = !network_nodes(pairs, settings, &figures);
        polite_barrier(MPI_COMM_WORLD);
        code = meet_max(wrong) != 0;
    }
    if (!code && world->me == 0) code = report(world, settings, pairs, &figures);
    free(figures.all);
    return meet_first(code);
}

static int network_all(struct network_settings *settings) {
    struct world world;
    struct pairs pairs;
    if (world_look(&world) != 0) return 1;
    int code = pairs_open(&world, settings, &pairs);
    if (!code) code = meet_first(world.me == 0 ? try_files(settings) : 0);
    if (!code) {
        world_warn(&world);
        if (world.me == 0) say_begin(settings);
        code = measure(&world, settings, &pairs);
    }
    pairs_close(&pairs, settings);
    return code;
}

int network(int count, char **words) {
    static struct network_settings settings;
    int code = network_settings_read(count, words, &settings);
    if (code >= 0) return code;
    MPI_Init(&count, &words);
    code = network_all(&settings);
    MPI_Finalize();
    return code;
}
