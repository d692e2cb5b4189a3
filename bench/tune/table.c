/* SPDX-License-Identifier: BSD-3-Clause */
/* table - what `mortar tune` prints at the end: a row for each size. */
#include "bench/common/bench.h"
#include "tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct row {
    struct tuning_entry entry;
    size_t bytes;
    int tried, slower;
    bool clear;
} *rows;
static int count;

void table_add(const struct tuning_entry *entry, size_t bytes, const struct settled *settled) {
    struct row *more = realloc(rows, ((size_t)count + 1) * sizeof *more);
    if (!more) return; /* the file has it */
    rows = more;
    rows[count++] = (struct row){*entry, bytes, settled->tried, settled->slower, settled->clear};
}

void table_print(void) {
    char gain[48];
    int wide = (int)strlen("collective");
    for (int r = 0; r < count; r++)
        wide = (int)strlen(rows[r].entry.collective) > wide ? (int)strlen(rows[r].entry.collective)
                                                            : wide;
    if (count > 0)
        printf("%-*s %-8s %9s %12s %12s  %-22s %6s %7s  %s\n", wide, "collective", "buffers",
               "bytes", "us", "native us", "gain (interval)", "plans", "dropped", "best plan");
    for (int r = 0; r < count; r++) {
        const struct tuning_entry *entry = &rows[r].entry;
        snprintf(gain, sizeof gain, "%.2f (%.2f-%.2f)", entry->gain, entry->gain_interval[0],
                 entry->gain_interval[1]);
        printf("%-*s %-8s %9zu %12.2f %12.2f  %-22s %6d %7d  %s%s\n", wide, entry->collective,
               entry->buffers, rows[r].bytes, entry->seconds * 1e6, entry->native_seconds * 1e6,
               gain, rows[r].tried, rows[r].slower, entry->plan,
               rows[r].clear ? "" : " (not settled)");
    }
    fflush(stdout);
    free(rows);
    rows = NULL, count = 0;
}
