/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - private to mpi/: what ran and what was measured about it, of all ranks. */
#ifndef MORTAR_REPORT_H
#define MORTAR_REPORT_H

#include "mpi/calls.h"

/* Teams have an empty plan; their bytes are unused and their seconds are the time of setting up. */
struct record {
    char collective[24], plan[64], reason[136], source[16];
    int32_t ranks, size_class, domains; /* of memory; 1 where there is one */
    uint64_t calls, bytes;
    double seconds;
    struct evidence evidence; /* native_seconds 0: none */
};

/* The records of all ranks, merged, on rank 0 of the world, which frees them; NULL elsewhere. 0 or -errno. Collective. */
int report_gather(struct record **records, int *count, int *ranks);

#endif
