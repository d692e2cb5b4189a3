/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per algorithm: ALGORITHM(name, collectives, arguments it takes, what it is). The file name.c defines algorithm_name. */
ALGORITHM(native, BIT(alltoall) | BIT(allgather), "", "the host MPI's own")
ALGORITHM(cico, BIT(alltoall) | BIT(allgather), "chunk", "copy in, one barrier, copy out, through shared memory; any buffers")
ALGORITHM(last, BIT(alltoall) | BIT(allgather), "", "one barrier, in which the last rank to arrive copies everything")
ALGORITHM(pull, BIT(alltoall) | BIT(allgather), "order kernel path", "one copy between two barriers, buffer to buffer (li2018)")
