/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per program: PROGRAM(name, size, iterations, what it stands for). Size and iterations are those of a run without
 * options; the file of that name says what they mean. */
PROGRAM(first, 8, 1, "a few small allreduces between MPI_Init and MPI_Finalize, and nothing else")
PROGRAM(communicators, 2, 300, "communicators that are made, used for a few calls, and freed")
PROGRAM(planewave, 262144, 30, "plane waves: transposes by alltoall, small bcasts between computing, barriers, splits")
PROGRAM(density, 65536, 12, "another electronic structure code: allreduce and alltoallv")
PROGRAM(solver, 768, 300, "a sparse iterative solver: allreduces of 8 to 56 bytes, halos from point to point")
PROGRAM(chemistry, 4096, 2000, "tasks from a counter, one-sided blocks, barriers that ranks come late to")
PROGRAM(dynamics, 8192, 300, "molecular dynamics with a mesh: sendrecv with six neighbours, few collectives")
