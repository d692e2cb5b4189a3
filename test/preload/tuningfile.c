/* SPDX-License-Identifier: BSD-3-Clause */
/* tuningfile MPI RANKS PLAN FILE [NODES] - writes a tuning file of this machine: one plan for
 * alltoalls of all sizes. */
#include "tuning/tuning.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
    if (count < 5) return 2;
    struct tuning_set set;
    tuning_here(&set, words[1]);
    struct tuning_entry entry = {
        .collective = "alltoall", .buffers = "heap", .ranks = atoi(words[2]), .domains = 1};
    entry.nodes = count > 5 ? atoi(words[5]) : 1;
    entry.from = 1, entry.to = 1 << 20;
    snprintf(entry.plan, sizeof entry.plan, "%s", words[3]);
    return tuning_add(&set, &entry) != 0 || tuning_write(words[4], &set, 1) != 0;
}
