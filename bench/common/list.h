/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per collective that can be measured: KIND(name, MPI_ name, blocks sent, blocks received, contents, counts may differ).
 * Blocks: NOBODY, ONE (for everybody, or the root's), ALL (one for each rank), NEIGHBOURS (one for each neighbour); _ROOT: on the
 * root only; ONE_OTHERS: not on the root; ONE_LATER: not on rank 0; SLAB: this rank's part of a grid (grid.c).
 * Contents: BYTES arrive as they are sent; SUM: the sum over all ranks; UP_TO, BELOW: over the ranks up to me, below me. */
KIND(barrier, Barrier, NOBODY, NOBODY, BYTES, false)
KIND(bcast, Bcast, ONE_ROOT, ONE_OTHERS, BYTES, false)
KIND(gather, Gather, ONE, ALL_ROOT, BYTES, false)
KIND(gatherv, Gatherv, ONE, ALL_ROOT, BYTES, true)
KIND(scatter, Scatter, ALL_ROOT, ONE, BYTES, false)
KIND(scatterv, Scatterv, ALL_ROOT, ONE, BYTES, true)
KIND(allgather, Allgather, ONE, ALL, BYTES, false)
KIND(allgatherv, Allgatherv, ONE, ALL, BYTES, true)
KIND(alltoall, Alltoall, ALL, ALL, BYTES, false)
KIND(alltoallv, Alltoallv, ALL, ALL, BYTES, true)
KIND(alltoallw, Alltoallw, ALL, ALL, BYTES, true)
KIND(reduce, Reduce, ONE, ONE_ROOT, SUM, false)
KIND(allreduce, Allreduce, ONE, ONE, SUM, false)
KIND(reduce_scatter, Reduce_scatter, ALL, ONE, SUM, true)
KIND(reduce_scatter_block, Reduce_scatter_block, ALL, ONE, SUM, false)
KIND(scan, Scan, ONE, ONE, UP_TO, false)
KIND(exscan, Exscan, ONE, ONE_LATER, BELOW, false)
KIND(neighbor_allgather, Neighbor_allgather, ONE, NEIGHBOURS, BYTES, false)
KIND(neighbor_allgatherv, Neighbor_allgatherv, ONE, NEIGHBOURS, BYTES, true)
KIND(neighbor_alltoall, Neighbor_alltoall, NEIGHBOURS, NEIGHBOURS, BYTES, false)
KIND(neighbor_alltoallv, Neighbor_alltoallv, NEIGHBOURS, NEIGHBOURS, BYTES, true)
KIND(neighbor_alltoallw, Neighbor_alltoallw, NEIGHBOURS, NEIGHBOURS, BYTES, true)
KIND(redistribution, Alltoallw, SLAB, SLAB, BYTES, false)
