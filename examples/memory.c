/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - see memory.h. */
#include "memory.h"

#include <stdio.h>
#include <string.h>

/* The file has lines "label: so many kB". */
static double mib(const char *path, const char *label) {
    FILE *file = fopen(path, "r");
    double kib = 0;
    char line[256];
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, label, strlen(label)) == 0) sscanf(line + strlen(label), "%lf", &kib);
    if (file) fclose(file);
    return kib / 1024;
}

double memory_peak(void) { return mib("/proc/self/status", "VmHWM:"); }

double memory_share(void) { return mib("/proc/self/smaps_rollup", "Pss:"); }
