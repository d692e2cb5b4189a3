/* SPDX-License-Identifier: BSD-3-Clause */
/* save - MORTAR_TUNE_SAVE: writes what was measured in this run as a tuning file for the next
 * one. */
#include "mpi/report.h"

#include "tuning/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is there enough evidence to save a record? There is if it has pairs of trials against the host
 * MPI, or if its plan had to win trials in order to run at all. */
static bool believed(const struct record *r) {
    if (!*r->plan || r->evidence.native_seconds <= 0 || r->size_class < 1 || r->size_class > 62)
        return false;
    return r->evidence.pairs > 0 || strcmp(r->source, "measured") == 0;
}

/* The entry of a record. Calls are timed one by one or a few at a time, so the seconds have no
 * interval; the gain has one if there are pairs. */
static struct tuning_entry as_entry(const struct record *r) {
    const struct evidence *e = &r->evidence;
    struct tuning_entry entry = {.ranks = r->ranks,
                                 .nodes = r->nodes,
                                 .domains = r->domains,
                                 .fullest = r->fullest,
                                 .from = (size_t)1 << (r->size_class - 1),
                                 .to = ((size_t)1 << r->size_class) - 1,
                                 .seconds = e->seconds,
                                 .interval = {e->seconds, e->seconds},
                                 .native_seconds = e->native_seconds,
                                 .gain = e->gain,
                                 .gain_interval = {e->gain, e->gain},
                                 .repetitions = e->pairs ? e->pairs : 1};
    if (e->pairs) entry.gain_interval[0] = e->low, entry.gain_interval[1] = e->high;
    snprintf(entry.collective, sizeof entry.collective, "%s", r->collective);
    snprintf(entry.buffers, sizeof entry.buffers, "%s", e->outside ? "outside" : "heap");
    snprintf(entry.plan, sizeof entry.plan, "%s", r->plan);
    if (!*e->better) return entry;
    snprintf(entry.plan, sizeof entry.plan, "%s", e->better);
    entry.seconds = entry.interval[0] = entry.interval[1] = e->better_seconds;
    entry.gain = entry.gain_interval[0] = entry.gain_interval[1] =
        e->native_seconds / e->better_seconds;
    return entry;
}

static int by_pairs(const void *a, const void *b) {
    return ((const struct record *)a)->evidence.pairs - ((const struct record *)b)->evidence.pairs;
}

/* Communicators that are alike may have settled on different plans. An entry takes the place of an
 * earlier one, so that with most pairs of trials comes last. */
static int save_fill(struct tuning_set *set, struct record *records, int count) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "", name[96];
    int length, error = 0;
    PMPI_Get_library_version(version, &length);
    tuning_mpi(version, name);
    tuning_here(set, name);
    qsort(records, (size_t)count, sizeof *records, by_pairs);
    for (int i = 0; i < count && !error; i++) {
        if (!believed(&records[i])) continue;
        struct tuning_entry entry = as_entry(&records[i]);
        error = tuning_add(set, &entry);
    }
    return error;
}

static void write_set(const char *path, struct tuning_set *set) {
    const struct tuning_file news = {set, 1};
    char why[320];
    if (!*path)
        warn(
            "MORTAR_TUNE_SAVE is not set on rank 0, which would write the file: give it as an option, "
            "mortar run --option TUNE_SAVE=FILE");
    else if (set->count == 0)
        warn("nothing was measured that could be saved in %s: too few trials; run longer%s", path,
             strcmp(option_text(OPTION_TUNE), "online") == 0 ? "" : ", or with MORTAR_TUNE=online");
    else if (tuning_update(path, &news, why, sizeof why) != 0)
        warn("what was measured is not saved in %s: %s", path, why);
}

void save_tuning(const char *path) {
    struct record *records;
    struct tuning_set set = {0};
    int count = 0, ranks = 0, error = report_gather(&records, &count, &ranks);
    if (records) {
        error = save_fill(&set, records, count);
        if (!error) write_set(path, &set);
    }
    if (error) warn("what was measured is not saved in %s: %s", path, file_why(error));
    free(set.entries);
    free(records);
}
