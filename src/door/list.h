/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per MPI call that mortar takes: DOOR(name without MPI_, number of arguments). The tables of the collectives and of the
 * calls that make communicators are coll/collectives.h and abi/makers.h. Both MPI_name and PMPI_name are caught. */
DOOR(Init, 2)
DOOR(Init_thread, 4)
DOOR(Finalize, 0)
DOOR(Alloc_mem, 3)
DOOR(Free_mem, 1)
DOOR(Op_free, 1)
DOOR(Type_free, 1)
DOOR(Comm_free, 1)
DOOR(Comm_disconnect, 1)
DOOR(Intercomm_merge, 3)
DOOR(Comm_create_from_group, 5)
DOOR(Comm_idup, 3)
DOOR(Comm_idup_with_info, 4)
DOOR(Dist_graph_create, 9)
