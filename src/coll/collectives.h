/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per collective that mortar takes: COLLECTIVE(name, what each rank gets). */

/* Sets of them, for the rows of algorithms, and for code that treats several alike. */
#ifndef EXCHANGES
#define BIT(collective) (1u << COLL_##collective)
#define ALLTOALLS (BIT(alltoall) | BIT(alltoallv) | BIT(alltoallw))
#define ALLGATHERS (BIT(allgather) | BIT(allgatherv))
#define EXCHANGES (ALLTOALLS | ALLGATHERS)
#define NEIGHBORS                                                                                                                  \
    (BIT(neighbor_alltoall) | BIT(neighbor_alltoallv) | BIT(neighbor_alltoallw) | BIT(neighbor_allgather) |                        \
     BIT(neighbor_allgatherv))
#define PERSONAL (ALLTOALLS | BIT(neighbor_alltoall) | BIT(neighbor_alltoallv) | BIT(neighbor_alltoallw))
/* Nobody but sender and receiver knows how long a block is, or there is none; so it is for all neighbours who are not connected. */
#define UNSIZED                                                                                                                    \
    (BIT(barrier) | BIT(alltoallv) | BIT(alltoallw) | BIT(gatherv) | BIT(scatterv) | BIT(neighbor_alltoallv) |                     \
     BIT(neighbor_alltoallw) | BIT(neighbor_allgatherv))
#define GATHERS (BIT(gather) | BIT(gatherv))
#define SCATTERS (BIT(scatter) | BIT(scatterv))
#define ROOTED (BIT(bcast) | GATHERS | SCATTERS)
#define REDUCTIONS (BIT(reduce) | BIT(allreduce) | BIT(reduce_scatter) | BIT(reduce_scatter_block) | BIT(scan) | BIT(exscan))
#endif

COLLECTIVE(alltoall, "block i of rank j's result is block j of rank i")
COLLECTIVE(allgather, "block i of every rank's result is rank i's block")
COLLECTIVE(alltoallv, "alltoall with counts and displacements")
COLLECTIVE(alltoallw, "alltoall with counts, displacements and types")
COLLECTIVE(allgatherv, "allgather with counts and displacements")
COLLECTIVE(barrier, "nothing, once all have come")
COLLECTIVE(bcast, "the root's block")
COLLECTIVE(gather, "the root: block i is rank i's")
COLLECTIVE(gatherv, "gather with counts and displacements")
COLLECTIVE(scatter, "rank j: block j of the root")
COLLECTIVE(scatterv, "scatter with counts and displacements")
COLLECTIVE(reduce, "the root: all ranks' elements, combined")
COLLECTIVE(allreduce, "all ranks' elements, combined")
COLLECTIVE(reduce_scatter, "rank j: part j of all ranks' elements, combined")
COLLECTIVE(reduce_scatter_block, "reduce_scatter with equal parts")
COLLECTIVE(scan, "rank j: the elements of ranks 0 to j, combined")
COLLECTIVE(exscan, "rank j: the elements of ranks 0 to j - 1, combined")
COLLECTIVE(neighbor_alltoall, "alltoall among the neighbours of a topology")
COLLECTIVE(neighbor_alltoallv, "neighbor_alltoall with counts and displacements")
COLLECTIVE(neighbor_alltoallw, "neighbor_alltoall with counts, displacements and types")
COLLECTIVE(neighbor_allgather, "allgather among the neighbours of a topology")
COLLECTIVE(neighbor_allgatherv, "neighbor_allgather with counts and displacements")
