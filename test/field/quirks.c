/* SPDX-License-Identifier: BSD-3-Clause */
/* quirks.c - what the MPI libraries get wrong by themselves, so that it is not taken for mortar's.
 * Each row was seen natively, and can be seen again: `field --row N` plays without row N (from 0),
 * best with --only. A row that no longer fails can go. */
#include <string.h>
#include "field.h"

enum {
    ALL = (1 << COLLECTIVES) - 1,
    NEIGHBORS = 0x1f << Neighbor_allgather,
    REDUCTIONS = 0x3f << Reduce
};

static const struct {
    const char *library; /* its version text begins with it */
    uint32_t kinds;
    enum quirk quirk;
    const char *what;
} table[] = {
    {"Open MPI", 1u << Allgatherv, TYPES,
     "chooses the algorithm by one rank's send type and receive counts: hangs"},
    {"Open MPI", 1u << Allgatherv, ABSOLUTE,
     "as above: a type at absolute addresses has all elements in one"},
    {"Open MPI", ALL, GRAPHS_ANYHOW,
     "MPI_Dist_graph_create hangs now and then, or the graph has other edges"},
    {"Open MPI", ALL, TOGETHER, "hang now and then, from 9 ranks and 4 threads on"},
    {"Open MPI", 1u << Alltoallw, NOT_BLOCKING, "crashes in MPI_Ialltoallw"},
    {"Open MPI", 1u << Alltoallv, NOT_BLOCKING, "in place: wrong data now and then"},
    {"Open MPI", NEIGHBORS, NOT_BLOCKING, "hang now and then"},
    {"Open MPI", NEIGHBORS, LONELY,
     "ranks with neighbours on one side only: messages of one call meet another's receive"},
    {"Open MPI", 1u << Gather, TYPES,
     "from 9 ranks on: the binomial tree takes one rank's type for all"},
    {"Open MPI", 1u << Alltoallw, ONE_RANK, "nothing is copied"},
    {"Open MPI v4", 1u << Alltoall, TYPES, "Bruck's algorithm miscounts types with gaps"},
    {"Open MPI", ALL, LONG_TYPES, "from 64 KiB on a message's last elements are wrong"},
    {"Open MPI v5", 1u << Scatter, TYPES,
     "the root's blocks of types that overlap in extent: wrong"},
    {"Open MPI v5", ALL, ONE_RANK, "the same, within one rank"},
    {"Open MPI v5", 1u << Bcast, TYPES, "types with gaps: bytes of the gaps are written to"},
    {"MPICH", 1u << Gather | 1u << Allgatherv, MIXED,
     "8 KiB of structs and the like: Invalid datatype, truncated"},
    {"MPICH", 1u << Allgatherv, LONG_TYPES,
     "parts of 32 KiB, which end elsewhere in other types: Message truncated"},
    {"MPICH", 1u << Gather, TYPES, "8 KiB of structs and the like: Invalid datatype"},
    {"MPICH Version:      5", 1u << Scatter | 1u << Scatterv, TYPES, "the same"},
    {"MPICH Version:      5", 1u << Allgatherv, TYPES,
     "7 ranks, from 8 KiB on, types that differ between ranks: Message truncated"},
    {"MPICH Version:      5", 1u << Alltoallv | 1u << Alltoallw, IN_PLACE, "the same"},
    {"MPICH Version:      5", ALL, NESTED,
     "from some 1000 pieces on process_vm_readv refuses what lies behind its list: In status"},
    {"MPICH", 1u << Reduce_scatter | 1u << Reduce_scatter_block, SPARSE,
     "types that do not begin at 0: wrong, or a crash"},
    {"MPICH", 1u << Exscan, NULL_RECEIVE,
     "refuses NULL on rank 0, where the buffer does not count"},
    {"MPICH", 1u << Reduce_scatter, IN_PLACE, "long ones: memcpy argument memory ranges overlap"},
    {"MPICH Version:\t4.0", 1u << Reduce, IN_PLACE,
     "two ranks, at the second one, from 2 KiB on: a crash"},
    {"MPICH Version:\t4.0", 1u << Neighbor_alltoallw, BROKEN, "wrong data with types"},
    {"MPICH Version:\t4.0", 1u << Alltoallw, NOT_BLOCKING, "in place: another block's bytes"},
    {"MPICH Version:\t4.0", ALL, LONG_TYPES, "the same as below with one type"},
    {"MPICH Version:\t4.0", ALL, MIXED,
     "long messages of structs: Message truncated, where a part ends inside an element"},
    {"MPICH Version:\t4.0", NEIGHBORS, DUPLICATES,
     "which of two edges between the same ranks is which"},
    {"MPICH Version:\t4.0", 1u << Allgatherv | 1u << Allgather, ONE_RANK,
     "crashes on communicators of one rank"},
    {"MPICH Version:\t4.0", ALL, PERSISTENCE,
     "copies the root's own block when the call is made, not when it starts"},
    {"MPICH Version:      5", 1u << Alltoall, NOT_BLOCKING,
     "in place, where ranks have other types: the last bytes of a long block"},
    {"Intel", 1u << Gather, TYPES, "wrong data or a crash"},
    {"Intel", 1u << Scatter, TYPES,
     "from 17 ranks on: the root's blocks of types that overlap in extent: wrong, or a crash"},
    {"Intel", 1u << Alltoallw, NOT_BLOCKING, "in place: Message truncated"},
    {"Intel", 1u << Allgatherv, NOT_BLOCKING,
     "long blocks, where ranks have other types: wrong data"},
    {"Intel", 1u << Allgather, TYPES, "wrong data where send and receive types differ"},
    {"Intel", 1u << Allgather, ABSOLUTE, "the same"},
    {"Intel", 1u << Reduce_scatter | 1u << Reduce_scatter_block, SPARSE,
     "types that do not begin at 0: wrong, or a crash"},
    {"Intel", ALL, PERSISTENCE,
     "copies the root's own block when the call is made, not when it starts"},
    {"Intel", REDUCTIONS, PADDED,
     "MPI_MINLOC of MPI_DOUBLE_INT and MPI_LONG_INT: not always the least; MPI_MAXLOC of "
     "MPI_SHORT_INT: the padding is written to"},
    {"Intel", 1u << Exscan, NULL_RECEIVE,
     "refuses NULL on rank 0, where the buffer does not count"},
};
static char version[MPI_MAX_LIBRARY_VERSION_STRING];

void quirks_start(void) {
    int length;
    MPI_Get_library_version(version, &length);
}

bool quirk(enum kind kind, enum quirk quirk) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if ((int)i != settings.row && table[i].quirk == quirk && table[i].kinds >> kind & 1 &&
            !strncmp(version, table[i].library, strlen(table[i].library)))
            return true;
    return false;
}
