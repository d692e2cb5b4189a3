/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per algorithm: ALGORITHM(name, collectives, arguments it takes, what it is). The file name.c defines algorithm_name. */
ALGORITHM(native, (1u << COLLECTIVES) - 1, "", "the host MPI's own")
ALGORITHM(cico, BIT(alltoall) | BIT(allgather), "chunk", "copy in, one barrier, copy out, through shared memory; any buffers")
ALGORITHM(last, BIT(alltoall) | BIT(allgather), "", "one barrier, in which the last rank to arrive copies everything")
ALGORITHM(pull, BIT(alltoall) | BIT(allgather), "order kernel path", "one copy between two barriers, buffer to buffer (li2018)")
ALGORITHM(central, BIT(barrier), "", "the team's barrier: one counter, one epoch")
ALGORITHM(combine,
    BIT(reduce) | BIT(allreduce) | BIT(reduce_scatter) | BIT(reduce_scatter_block) | BIT(scan) | BIT(exscan), "",
    "one barrier, in which the last rank to arrive combines all vectors")
ALGORITHM(slices,
    BIT(reduce) | BIT(allreduce) | BIT(reduce_scatter) | BIT(reduce_scatter_block) | BIT(scan) | BIT(exscan), "",
    "between two barriers each rank combines a slice of all vectors, buffer to buffers")
ALGORITHM(arrival, BIT(reduce), "", "who comes first leaves, who comes second combines and carries on (parsons2015)")
