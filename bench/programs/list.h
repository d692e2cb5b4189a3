/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per program: PROGRAM(name, size, iterations, what it stands for). Size and iterations are those of a run without
 * options; the file of that name says what they mean. */
PROGRAM(first, 8, 1, "a few small allreduces between MPI_Init and MPI_Finalize, and nothing else")
PROGRAM(communicators, 2, 300, "communicators that are made, used for a few calls, and freed")
PROGRAM(planewave, 262144, 30,
        "plane waves: transposes by alltoall, small bcasts between computing, barriers, splits")
PROGRAM(density, 65536, 12, "another electronic structure code: allreduce and alltoallv")
PROGRAM(solver, 768, 300,
        "a sparse iterative solver: allreduces of 8 to 56 bytes, halos from point to point")
PROGRAM(chemistry, 4096, 2000,
        "tasks from a counter, one-sided blocks, barriers that ranks come late to")
PROGRAM(dynamics, 8192, 300,
        "molecular dynamics with a mesh: sendrecv with six neighbours, few collectives")
PROGRAM(late, 65536, 800, "sums of long vectors on one rank, to which ranks come late")
PROGRAM(fresh, 64, 24, "alltoalls and allreduces, each with new buffers of 1 to 64 MiB")
PROGRAM(gather, 256, 8, "memory, no collectives: reads 256 MiB in random order")
PROGRAM(triad, 64, 100, "memory, no collectives: a = b + 3 c, arrays of 64 MiB")
PROGRAM(touch, 256, 4, "memory, no collectives: writes to each page of new memory")
PROGRAM(fields, 32, 60000,
        "memory, no collectives: sums the same element of 12 arrays of so many KiB")
PROGRAM(columns, 512, 2000,
        "memory, no collectives: adds up the columns of a matrix whose rows are blocks")
PROGRAM(zeroed, 1024, 65536,
        "memory, no collectives: calloc, a write to each page, free, blocks of so many KiB")
PROGRAM(small, 1, 40000,
        "memory, no collectives: thousands of malloc and free of small blocks, by so many threads")
PROGRAM(grow, 256, 6, "memory, no collectives: realloc from 1 to 256 MiB in steps of 1 MiB")
PROGRAM(trim, 400, 4,
        "memory, no collectives: 400 MiB of small blocks, most of them freed, then malloc_trim")
PROGRAM(beyond, 170, 100000, "memory, no collectives: asks for 170 % of the machine's memory")
PROGRAM(fork, 256, 40,
        "memory, no collectives: children that work a little, of a process of 256 MiB")
PROGRAM(exec, 256, 100,
        "memory, no collectives: children that start another program, of a process of 256 MiB")
