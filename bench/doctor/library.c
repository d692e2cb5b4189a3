/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor_library - the MPI library, and whether mortar takes its calls. */
#define _GNU_SOURCE
#include "doctor.h"

#include "include/mortar.h"

#include <stdlib.h>
#include <string.h>

/* Calls an alltoall of all ranks through mortar, which says what has run. */
static void try_one(const struct world *world, struct findings *all) {
    enum { bytes = 64, calls = 20 };
    char ran[192] = "", *out = calloc((size_t)world->p, bytes),
         *in = calloc((size_t)world->p, bytes);
    for (int i = 0; i < calls; i++)
        caught.alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, world->comm);
    chosen(world, kind_of("alltoall"), false, ran, sizeof ran);
    library.bcast(ran, (int)sizeof ran, MPI_BYTE, 0, world->comm);
    struct seen seen = chosen_seats(world);
    free(in), free(out);
    if (*seen.why)
        found(all, RED, "a try", "look under \"Is mortar at work at all?\" in docs/guide.md",
              "MPI_Alltoall was left to the MPI library: %s", seen.why);
    else if (strncmp(ran, "native", 6) == 0 || !*ran)
        found(all, YELLOW, "a try",
              world->nodes > 1 ? "mpirun -n P mortar bench network --save FILE, on two nodes"
                               : NULL,
              "MPI_Alltoall was left to the MPI library: %s", *ran ? ran : "mortar did not see it");
    else found(all, GREEN, "a try", NULL, "MPI_Alltoall of %d bytes ran %s", bytes, ran);
}

void doctor_library(const struct world *world, struct findings *all) {
    bool off = strcmp(option_text(OPTION_OFF), "all") == 0;
    found(all, GREEN, "MPI", NULL, "%s: %s", world->mpi, library_file());
    if (world->loaded && !off)
        found(all, GREEN, "mortar", NULL, "%s, libmortar-%s.so takes its calls", MORTAR_VERSION,
              ABI("ompi", "mpich", "standard"));
    else if (off) found(all, RED, "mortar", "unset MORTAR_OFF", "switched off by MORTAR_OFF=all");
    else
        found(
            all, RED, "mortar", "a line of mortar's above says why; install mortar anew",
            "its engine for this MPI library is missing, or does not fit: programs run without mortar");
    if (world->heap)
        found(all, YELLOW, "shared heap", "see the limits below; what peers cannot reach is staged",
              "not for malloc: %s", world->heap);
    else
        found(all, GREEN, "shared heap", NULL, "on, %llu GiB of addresses for each rank",
              (unsigned long long)option_number(OPTION_HEAP_BYTES) >> 30);
    if (world->p == 1)
        found(all, GREEN, "a try", NULL, "none: one rank alone; start it with the launcher");
    else if (world->loaded && !off) try_one(world, all);
}
