/* SPDX-License-Identifier: BSD-3-Clause */
/* statistics - medians of repetitions, and how far these lie apart. */
#include "bench.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which that share of the sorted values lies. */
static double quantile(const double *sorted, int count, double share) {
    double place = share * (count - 1);
    int below = (int)place;
    if (below == count - 1) return sorted[below];
    return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

double median(const double *a, const double *b, int count, double *spread) {
    double *sorted = malloc((size_t)count * sizeof *sorted);
    if (!sorted) return 0;
    for (int i = 0; i < count; i++) sorted[i] = b ? a[i] / b[i] : a[i];
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    double middle = quantile(sorted, count, 0.5);
    if (spread)
        *spread = (quantile(sorted, count, 0.75) - quantile(sorted, count, 0.25)) / 2 / middle;
    free(sorted);
    return middle;
}
