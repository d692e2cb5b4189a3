/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - private to mpi/: what ran and what was measured about it, of all ranks. */
#ifndef MORTAR_REPORT_H
#define MORTAR_REPORT_H

#include "mpi/calls.h"

enum { most_late = 3 };

/* Teams have an empty plan; their bytes are unused and their seconds are the time of setting up. */
struct record {
    char collective[24], plan[64], reason[136], source[16];
    int32_t ranks, size_class, nodes, domains; /* domains of memory on this rank's node */
    int32_t fullest;                           /* ranks on the fullest node */
    int32_t members;                           /* ranks of the world that made such calls */
    uint64_t calls, bytes;
    struct traffic traffic; /* of all ranks */
    /* All of the one rank that spent most. */
    double seconds;
    /* Of them, waiting for ranks that had not entered the call; negative: not known. */
    double late_seconds;
    double inside_seconds; /* and waiting for peers to do their part */
    /* The ranks that were waited for most, as far as they stand out. */
    int32_t late_count;
    struct late_rank {
        int32_t rank; /* in MPI_COMM_WORLD */
        /* Calls in which a rank waited for it, of the rank that did so most often. */
        uint64_t times;
        /* How long each of its communicator's other ranks waited for it in all, as a mean. */
        double seconds;
        double share; /* of all that all ranks waited in such calls */
    } late[most_late];
    struct evidence evidence; /* native_seconds 0: none */
};

/* The records of all ranks, merged, on rank 0 of the world, which frees them; NULL elsewhere. 0 or
 * -errno. Collective. */
int report_gather(struct record **records, int *count, int *ranks);

#endif
