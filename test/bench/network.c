/* SPDX-License-Identifier: BSD-3-Clause */
/* network - the verdict of `mortar bench network` on times that are made up: is it one leader,
 * some, or all ranks? */
#include "bench/network/network.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 20, columns = 4 };
static uint64_t state = 1;

static double noise(double most) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return 1 + most * ((double)(state >> 40) / (double)(1 << 24) * 2 - 1);
}

static struct verdict verdict_on(const double medians[columns], double noisy) {
    static double room[columns][rounds];
    const double *seconds[columns];
    for (int c = 0; c < columns; c++) {
        seconds[c] = room[c];
        for (int r = 0; r < rounds; r++) room[c][r] = medians[c] * 1e-6 * noise(noisy);
    }
    return judge(seconds, columns, rounds);
}

static int failures;

static void expect_verdict(const char *what, const double medians[columns], double noisy, int least,
                           int best) {
    struct verdict found = verdict_on(medians, noisy);
    bool fine = found.least == least && (best < 0 || found.best == best);
    double gain = medians[0] / medians[found.best];
    fine = fine && found.gain.low <= gain * (1 + noisy) && found.gain.high >= gain * (1 - noisy);
    if (!fine)
        fprintf(stderr, "%s: least %d, best %d, gain %g\n", what, found.least, found.best,
                found.gain.median);
    failures += !fine;
}

static void expect_text(int pairs, int measured, int most, const char *expected) {
    char text[64];
    verdict_text(pairs, measured, most, text, sizeof text);
    if (strcmp(text, expected) != 0)
        fprintf(stderr, "%d of %d of %d: %s, not %s\n", pairs, measured, most, text, expected),
            failures++;
}

int main(void) {
    for (int again = 0; again < 20; again++) {
        expect_verdict("each pair adds its own", (double[]){8, 4, 2, 1}, 0.05, 3, 3);
        expect_verdict("two fill the network", (double[]){8, 4, 4, 4}, 0.03, 1, -1);
        expect_verdict("more than two are in each other's way", (double[]){8, 4, 6, 9}, 0.05, 1, 1);
        expect_verdict("one fills the network", (double[]){4, 4, 4, 4}, 0.03, 0, -1);
        expect_verdict("several are slower", (double[]){4, 5, 6, 7}, 0.05, 0, 0);
        expect_verdict("less than a tenth is nothing", (double[]){4.2, 4.1, 4.05, 4}, 0.02, 0, -1);
        expect_verdict("a fiftieth, under much noise", (double[]){4.08, 4, 4, 4}, 0.5, 0, -1);
    }
    double one[1] = {2e-6};
    const double *alone[1] = {one};
    struct verdict found = judge(alone, 1, 1);
    if (found.least != 0 || found.best != 0 || found.gain.median != 1)
        fprintf(stderr, "a single figure\n"), failures++;
    expect_text(1, 8, 8, "one leader");
    expect_text(2, 8, 8, "2 leaders");
    expect_text(8, 8, 8, "aggregation over all ranks");
    expect_text(4, 4, 8, "at least 4 leaders: more were not measured");
    expect_text(1, 1, 8, "at least 1 leader: more were not measured");
    expect_text(1, 1, 1, "one rank on each node: nothing to choose");
    return failures != 0;
}
