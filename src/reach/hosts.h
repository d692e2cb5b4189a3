/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per collective of the MPI library: HOST(name in struct host, name without MPI_, parameters); N and D are the types of
 * counts and displacements: int, in the _c forms MPI_Count and MPI_Aint. */
HOST(alltoall, Alltoall, (const void *, N, MPI_Datatype, void *, N, MPI_Datatype, MPI_Comm))
HOST(allgather, Allgather, (const void *, N, MPI_Datatype, void *, N, MPI_Datatype, MPI_Comm))
HOST(alltoallv, Alltoallv, (const void *, const N *, const D *, MPI_Datatype, void *, const N *, const D *, MPI_Datatype,
     MPI_Comm))
HOST(alltoallw, Alltoallw, (const void *, const N *, const D *, const MPI_Datatype *, void *, const N *, const D *,
     const MPI_Datatype *, MPI_Comm))
HOST(allgatherv, Allgatherv, (const void *, N, MPI_Datatype, void *, const N *, const D *, MPI_Datatype, MPI_Comm))
HOST(bcast, Bcast, (void *, N, MPI_Datatype, int, MPI_Comm))
HOST(gather, Gather, (const void *, N, MPI_Datatype, void *, N, MPI_Datatype, int, MPI_Comm))
HOST(gatherv, Gatherv, (const void *, N, MPI_Datatype, void *, const N *, const D *, MPI_Datatype, int, MPI_Comm))
HOST(scatter, Scatter, (const void *, N, MPI_Datatype, void *, N, MPI_Datatype, int, MPI_Comm))
HOST(scatterv, Scatterv, (const void *, const N *, const D *, MPI_Datatype, void *, N, MPI_Datatype, int, MPI_Comm))
HOST(reduce, Reduce, (const void *, void *, N, MPI_Datatype, MPI_Op, int, MPI_Comm))
HOST(allreduce, Allreduce, (const void *, void *, N, MPI_Datatype, MPI_Op, MPI_Comm))
HOST(reduce_scatter, Reduce_scatter, (const void *, void *, const N *, MPI_Datatype, MPI_Op, MPI_Comm))
HOST(reduce_scatter_block, Reduce_scatter_block, (const void *, void *, N, MPI_Datatype, MPI_Op, MPI_Comm))
HOST(scan, Scan, (const void *, void *, N, MPI_Datatype, MPI_Op, MPI_Comm))
HOST(exscan, Exscan, (const void *, void *, N, MPI_Datatype, MPI_Op, MPI_Comm))
HOST(neighbor_alltoall, Neighbor_alltoall, (const void *, N, MPI_Datatype, void *, N, MPI_Datatype, MPI_Comm))
HOST(neighbor_alltoallv, Neighbor_alltoallv, (const void *, const N *, const D *, MPI_Datatype, void *, const N *, const D *,
     MPI_Datatype, MPI_Comm))
HOST(neighbor_alltoallw, Neighbor_alltoallw, (const void *, const N *, const MPI_Aint *, const MPI_Datatype *, void *, const N *,
     const MPI_Aint *, const MPI_Datatype *, MPI_Comm))
HOST(neighbor_allgather, Neighbor_allgather, (const void *, N, MPI_Datatype, void *, N, MPI_Datatype, MPI_Comm))
HOST(neighbor_allgatherv, Neighbor_allgatherv, (const void *, N, MPI_Datatype, void *, const N *, const D *, MPI_Datatype,
     MPI_Comm))
