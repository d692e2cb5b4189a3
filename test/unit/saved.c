/* SPDX-License-Identifier: BSD-3-Clause */
/* saved - what src/mpi/save.c makes of a report's records. Two communicators are alike and have
 * settled on different plans: the one with more pairs of trials is saved, whichever comes first. */
#include "mpi/report.h"

#include "tuning/tuning.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct record alike = {
    .collective = "alltoall",
    .source = "measured",
    .ranks = 4,
    .nodes = 1,
    .domains = 1,
    .fullest = 4,
    .size_class = 4,
    .evidence = {.seconds = 1e-6, .native_seconds = 2e-6, .gain = 2, .low = 1.5, .high = 2.5}};
static int first_pairs;

int PMPI_Get_library_version(char *version, int *length) {
    *length = (int)strlen(strcpy(version, "Open MPI v4.1.4"));
    return MPI_SUCCESS;
}

int report_gather(struct record **records, int *count, int *ranks) {
    *records = calloc(2, sizeof **records);
    *count = *ranks = 2;
    for (int i = 0; i < 2; i++) {
        (*records)[i] = alike;
        (*records)[i].evidence.pairs = i ? 10 : first_pairs;
        strcpy((*records)[i].plan, i ? "cico" : "pull(rows, plain)");
    }
    return 0;
}

int main(void) {
    char path[] = "saved-XXXXXX", why[320] = "";
    int file = mkstemp(path);
    close(file);
    for (first_pairs = 1; first_pairs < 20; first_pairs += 18) {
        struct tuning_file found = {0};
        unlink(path);
        save_tuning(path);
        expect(tuning_read(path, &found, why, sizeof why) == 0, "%s", why);
        expect(found.count == 1 && found.sets[0].count == 1, "not one entry");
        const char *plan = found.sets[0].entries[0].plan;
        expect(strcmp(plan, first_pairs > 10 ? "pull(rows, plain)" : "cico") == 0,
               "%s with %d pairs before 10", plan, first_pairs);
        const struct tuning_entry *entry = &found.sets[0].entries[0];
        expect(entry->gain == 2 && entry->gain_interval[0] == 1.5 && entry->gain_interval[1] == 2.5,
               "gain %g (%g to %g)", entry->gain, entry->gain_interval[0], entry->gain_interval[1]);
        tuning_free(&found);
    }
    unlink(path);
    return 0;
}
