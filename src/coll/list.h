/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per algorithm: ALGORITHM(name, collectives, arguments it takes, what it is). The file name.c defines algorithm_name. */
ALGORITHM(native, (1u << COLLECTIVES) - 1, "", "the host MPI's own")
ALGORITHM(pull, EXCHANGES | NEIGHBORS, "order kernel path", "one copy between two barriers, buffer to buffer (li2018)")
ALGORITHM(cico, EXCHANGES | NEIGHBORS, "chunk", "copy in, one barrier, copy out, through shared memory; any buffers")
ALGORITHM(last, BIT(alltoall) | BIT(allgather), "", "one barrier, in which the last rank to arrive copies everything")
ALGORITHM(central, BIT(barrier), "", "the team's barrier: one counter, one epoch")
ALGORITHM(mailbox, BIT(bcast) | BIT(gather) | BIT(gatherv) | BIT(scatter) | BIT(scatterv) | NEIGHBORS, "kernel",
          "from senders to their receivers through boxes, or straight; no barrier, ranks may run ahead")
