/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per collective that mortar takes: COLLECTIVE(name, what each rank gets). */
COLLECTIVE(alltoall, "block i of rank j's result is block j of rank i")
COLLECTIVE(allgather, "block i of every rank's result is rank i's block")
