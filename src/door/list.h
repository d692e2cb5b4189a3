/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per MPI call that mortar takes: DOOR(name without MPI_, parameters, arguments). MPI_name and PMPI_name are caught. */
DOOR(Init, (word a, word b), (a, b))
DOOR(Init_thread, (word a, word b, word c, word d), (a, b, c, d))
DOOR(Finalize, (void), ())
DOOR(Alloc_mem, (word a, word b, word c), (a, b, c))
DOOR(Free_mem, (word a), (a))
DOOR(Alltoall, (word a, word b, word c, word d, word e, word f, word g), (a, b, c, d, e, f, g))
DOOR(Alltoall_c, (word a, word b, word c, word d, word e, word f, word g), (a, b, c, d, e, f, g))
DOOR(Allgather, (word a, word b, word c, word d, word e, word f, word g), (a, b, c, d, e, f, g))
DOOR(Allgather_c, (word a, word b, word c, word d, word e, word f, word g), (a, b, c, d, e, f, g))
