/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline - seconds that are added to a timeline are all there, each where it belongs, however
 * long the run becomes and in whatever order they come; rows stay apart. */
#include "base/base.h"

#include "unit.h"

#include <stdlib.h>

enum { rows = 3, most = 400 };
static struct span {
    int row;
    double from, seconds;
} spans[most];

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* What of all spans lies in this slice. */
static double expected(int count, int row, double left, double right) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double from = larger(spans[i].from, left),
               to = smaller(spans[i].from + spans[i].seconds, right);
        if (spans[i].row == row && to > from) sum += to - from;
    }
    return sum;
}

static void check(const struct timeline *timeline, int count, double longest) {
    double length = timeline->slice;
    expect(length * timeline_slices >= longest * (1 - 1e-9),
           "%g s do not fit into %d slices of %g s", longest, timeline_slices, length);
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < timeline_slices; s++) {
            double wanted = expected(count, r, s * length, (s + 1) * length);
            double off = timeline->seconds[r][s] - wanted;
            expect(larger(off, -off) <= 1e-9 * (1 + longest),
                   "row %d, slice %d of %g s: %.12g instead of %.12g", r, s, length,
                   timeline->seconds[r][s], wanted);
        }
}

/* A run of some seconds, or of days. */
static void one_run(uint64_t *random, double longest) {
    const double begin = 1e5;
    struct timeline timeline;
    double end = 0;
    expect(timeline_open(&timeline, rows, begin) == 0, "timeline_open");
    for (int i = 0; i < most; i++) {
        double from = longest * draw_below(random, 1000000) / 1e6;
        double seconds = longest * draw_below(random, 1000) / (draw_below(random, 2) ? 1e3 : 1e7);
        spans[i] = (struct span){(int)draw_below(random, rows), from, seconds};
        if (seconds > 0 && from + seconds > end) end = from + seconds;
        timeline_add(&timeline, spans[i].row, begin + from, seconds);
        if (i % 50 == 0) check(&timeline, i + 1, end);
    }
    check(&timeline, most, end);
    expect(timeline.slice * timeline_slices < 2 * end || timeline.slice < 0.02,
           "slices of %g s for %g s", timeline.slice, end);
    timeline_widen(&timeline, 3.9 * timeline.slice);
    check(&timeline, most, end);
    free(timeline.seconds);
}

int main(int count, char **words) {
    static const double lengths[] = {0.1, 0.999, 1, 7, 3600, 1e6};
    uint64_t random = seed_from(count, words);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int k = 0; k < 20; k++) one_run(&random, lengths[i]);
    /* What was waited before the timeline began does not count, nor does nothing. */
    struct timeline timeline;
    expect(timeline_open(&timeline, 1, 100) == 0, "timeline_open");
    timeline_add(&timeline, 0, 90, 5);
    timeline_add(&timeline, 0, 101, 0);
    timeline_add(&timeline, 0, 99, 1 + 1.0 / 128);
    expect(timeline.seconds[0][0] == 1.0 / 128 && timeline.slice == 1.0 / 64, "%g in slices of %g",
           timeline.seconds[0][0], timeline.slice);
    free(timeline.seconds);
    return 0;
}
