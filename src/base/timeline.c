/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline - seconds over the time of a run whose end nobody knows, in constant memory: a row has
 * as many slices as fit, and when they are full each two become one of twice the length. */
#include "base.h"

#include <errno.h>
#include <stdlib.h>

static const double first_slice = 1.0 / 64; /* seconds: a power of two, so slices fit each other */

int timeline_open(struct timeline *timeline, int rows, double begin) {
    *timeline = (struct timeline){.begin = begin, .slice = first_slice, .rows = rows};
    timeline->seconds = calloc((size_t)rows, sizeof *timeline->seconds);
    return timeline->seconds ? 0 : -ENOMEM;
}

/* Most rows stay empty and without memory: what does not change is not written. */
static void halve(double row[timeline_slices]) {
    enum { half = timeline_slices / 2 };
    for (int s = 0; s < timeline_slices; s++) {
        double sum = s < half ? row[2 * s] + row[2 * s + 1] : 0;
        if (row[s] != sum) row[s] = sum;
    }
}

void timeline_widen(struct timeline *timeline, double slice) {
    while (timeline->slice < slice) {
        for (int r = 0; r < timeline->rows; r++) halve(timeline->seconds[r]);
        timeline->slice *= 2;
    }
}

HOT void timeline_add(struct timeline *timeline, int row, double from, double seconds) {
    double start = from - timeline->begin, end = start + seconds;
    if (start < 0) start = 0;
    if (end <= start) return;
    timeline_widen(timeline, end / timeline_slices);
    int first = (int)(start / timeline->slice), last = (int)(end / timeline->slice);
    if (last >= timeline_slices) last = timeline_slices - 1; /* the very end of the last one */
    for (int s = first; s <= last; s++) {
        double left = s == first ? start : s * timeline->slice;
        double right = s == last ? end : (s + 1) * timeline->slice;
        timeline->seconds[row][s] += right - left;
    }
}
