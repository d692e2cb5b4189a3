/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per collective that mortar takes over:
 * COLLECTIVE(name, name without MPI_, what is sent, what is received, what follows, family, what each rank gets)
 *
 * What is sent or received, as parameters of MPI's function; coll/forms.h turns it into declarations and calls:
 *   NO      nothing: the barrier, which also has no form with large counts
 *   SAME    the receive buffer: one buffer serves as both
 *   BARE    buffer; count and type are those of the receive side
 *   EQUAL   buffer, count, type
 *   COUNTS  buffer, a count for each rank, type
 *   VARY    buffer, counts, displacements, type
 *   EACH    buffer, counts, displacements, types
 *   FAR     as EACH, with displacements of type MPI_Aint in both forms
 * What follows: NONE, ROOT, OP, OP_ROOT. Family: the code that describes and runs the call, src/mpi/calls.h. */

/* Sets of collectives, for the rows of algorithms and for code that treats several alike. */
#ifndef EXCHANGES
#define BIT(collective) (1u << COLL_##collective)
#define ALLTOALLS (BIT(alltoall) | BIT(alltoallv) | BIT(alltoallw))
#define ALLGATHERS (BIT(allgather) | BIT(allgatherv))
#define EXCHANGES (ALLTOALLS | ALLGATHERS)
#define NEIGHBORS                                                                                                                  \
    (BIT(neighbor_alltoall) | BIT(neighbor_alltoallv) | BIT(neighbor_alltoallw) | BIT(neighbor_allgather) |                        \
     BIT(neighbor_allgatherv))
#define PERSONAL (ALLTOALLS | BIT(neighbor_alltoall) | BIT(neighbor_alltoallv) | BIT(neighbor_alltoallw))
/* Only sender and receiver know how long a block is, or there are no blocks. So it may be in all calls of a neighbourhood. */
#define UNSIZED                                                                                                                    \
    (BIT(barrier) | BIT(alltoallv) | BIT(alltoallw) | BIT(gatherv) | BIT(scatterv) | BIT(neighbor_alltoallv) |                     \
     BIT(neighbor_alltoallw) | BIT(neighbor_allgatherv))
/* Buffers hold equal blocks, back to back, and are posted as a whole. */
#define POSTED (BIT(alltoall) | BIT(allgather))
#define GATHERS (BIT(gather) | BIT(gatherv))
#define SCATTERS (BIT(scatter) | BIT(scatterv))
#define ROOTED (BIT(bcast) | GATHERS | SCATTERS)
#define SCANS (BIT(scan) | BIT(exscan))
/* Every rank receives some of the same result; of SCATTERED a part of its own. */
#define SCATTERED (BIT(reduce_scatter) | BIT(reduce_scatter_block))
#define ALLREDUCES (BIT(allreduce) | SCATTERED)
#define REDUCTIONS (BIT(reduce) | ALLREDUCES | SCANS)
#endif

COLLECTIVE(alltoall, Alltoall, EQUAL, EQUAL, NONE, exchange,
           "rank j receives block j of every rank")
COLLECTIVE(allgather, Allgather, EQUAL, EQUAL, NONE, exchange,
           "every rank receives every rank's block")
COLLECTIVE(alltoallv, Alltoallv, VARY, VARY, NONE, parts,
           "alltoall with counts and displacements")
COLLECTIVE(alltoallw, Alltoallw, EACH, EACH, NONE, parts,
           "alltoall with counts, displacements and types")
COLLECTIVE(allgatherv, Allgatherv, EQUAL, VARY, NONE, parts,
           "allgather with counts and displacements")
COLLECTIVE(barrier, Barrier, NO, NO, NONE, barrier,
           "no rank returns before all have entered")
COLLECTIVE(bcast, Bcast, SAME, EQUAL, ROOT, parts,
           "every rank receives the root's block")
COLLECTIVE(gather, Gather, EQUAL, EQUAL, ROOT, parts,
           "the root receives every rank's block")
COLLECTIVE(gatherv, Gatherv, EQUAL, VARY, ROOT, parts,
           "gather with counts and displacements")
COLLECTIVE(scatter, Scatter, EQUAL, EQUAL, ROOT, parts,
           "rank j receives block j of the root")
COLLECTIVE(scatterv, Scatterv, VARY, EQUAL, ROOT, parts,
           "scatter with counts and displacements")
COLLECTIVE(reduce, Reduce, BARE, EQUAL, OP_ROOT, reduction,
           "the root receives all ranks' elements, combined")
COLLECTIVE(allreduce, Allreduce, BARE, EQUAL, OP, reduction,
           "every rank receives all ranks' elements, combined")
COLLECTIVE(reduce_scatter, Reduce_scatter, BARE, COUNTS, OP, reduction,
           "rank j receives part j of all ranks' elements, combined")
COLLECTIVE(reduce_scatter_block, Reduce_scatter_block, BARE, EQUAL, OP, reduction,
           "reduce_scatter with equal parts")
COLLECTIVE(scan, Scan, BARE, EQUAL, OP, reduction,
           "rank j receives the elements of ranks 0 to j, combined")
COLLECTIVE(exscan, Exscan, BARE, EQUAL, OP, reduction,
           "rank j receives the elements of ranks 0 to j - 1, combined")
COLLECTIVE(neighbor_alltoall, Neighbor_alltoall, EQUAL, EQUAL, NONE, parts,
           "alltoall among the neighbours of a topology")
COLLECTIVE(neighbor_alltoallv, Neighbor_alltoallv, VARY, VARY, NONE, parts,
           "neighbor_alltoall with counts and displacements")
COLLECTIVE(neighbor_alltoallw, Neighbor_alltoallw, FAR, FAR, NONE, parts,
           "neighbor_alltoall with counts, displacements and types")
COLLECTIVE(neighbor_allgather, Neighbor_allgather, EQUAL, EQUAL, NONE, parts,
           "allgather among the neighbours of a topology")
COLLECTIVE(neighbor_allgatherv, Neighbor_allgatherv, EQUAL, VARY, NONE, parts,
           "neighbor_allgather with counts and displacements")
