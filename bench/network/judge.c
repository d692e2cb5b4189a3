/* SPDX-License-Identifier: BSD-3-Clause */
/* network_judge - how many ranks of a node should send. kumar2008 sections 3 and 5: where several
 * pairs reach more than one pair does, a single leader wastes the network, and where they do not,
 * more senders only mean more messages. A difference counts when its 95 % interval, of ratios
 * within rounds, lies above a tenth: what is gathered for fewer senders has to be copied, which
 * costs about as much. */
#include "network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double clearly = 1.1;

double median_seconds(const double *seconds, int rounds) {
    return estimate_ratio(seconds, NULL, rounds).median;
}

struct verdict judge(const double *const *seconds, int columns, int rounds) {
    struct verdict verdict = {.least = -1};
    for (int c = 1; c < columns; c++)
        if (median_seconds(seconds[c], rounds) < median_seconds(seconds[verdict.best], rounds))
            verdict.best = c;
    for (int c = 0; c < columns && verdict.least < 0; c++) {
        bool beaten = false;
        for (int other = 0; other < columns; other++)
            beaten = beaten || (other != c &&
                                estimate_ratio(seconds[c], seconds[other], rounds).low > clearly);
        if (!beaten) verdict.least = c;
    }
    /* Rounds that differ wildly may beat everybody. */
    if (verdict.least < 0) verdict.least = verdict.best;
    verdict.gain = estimate_ratio(seconds[0], seconds[verdict.best], rounds);
    return verdict;
}

const char *verdict_text(int pairs, int measured, int most, char *text, size_t size) {
    if (most == 1) snprintf(text, size, "one rank on each node: nothing to choose");
    else if (pairs == most) snprintf(text, size, "aggregation over all ranks");
    else if (pairs == measured)
        snprintf(text, size, "at least %d leader%s: more were not measured", pairs,
                 pairs == 1 ? "" : "s");
    else if (pairs == 1) snprintf(text, size, "one leader");
    else snprintf(text, size, "%d leaders", pairs);
    return text;
}
