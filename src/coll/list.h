/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per algorithm: ALGORITHM(name, collectives, arguments it takes, what it is). The file name.c defines algorithm_name. */
ALGORITHM(native, (1u << COLLECTIVES) - 1, "", "the host MPI's own")
ALGORITHM(pull, EXCHANGES | NEIGHBORS, "order kernel path", "one copy between two barriers, buffer to buffer (li2018)")
ALGORITHM(cico, EXCHANGES | NEIGHBORS, "chunk", "copy in, one barrier, copy out, through shared memory; any buffers")
ALGORITHM(last, BIT(alltoall) | BIT(allgather), "", "one barrier, in which the last rank to arrive copies everything")
ALGORITHM(central, BIT(barrier), "", "the team's barrier: one counter, one epoch")
ALGORITHM(mailbox, ROOTED | NEIGHBORS, "kernel", "from senders to receivers through boxes; no barrier, ranks may run ahead")
ALGORITHM(combine, REDUCTIONS, "", "one barrier, in which the last rank to arrive combines all vectors")
ALGORITHM(slices, REDUCTIONS, "", "between two barriers each rank combines a slice of all vectors, buffer to buffers")
ALGORITHM(arrival, BIT(reduce), "", "who comes first leaves, who comes second combines and carries on (parsons2015)")
ALGORITHM(chain, BIT(scan) | BIT(exscan), "", "each rank waits for the one before it; short vectors, ranks may run ahead")
ALGORITHM(direct, EXCHANGES, "number", "messages straight to where each block belongs: all at once, or a window of so many")
