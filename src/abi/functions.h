/* SPDX-License-Identifier: BSD-3-Clause */
/* functions.h - the functions of MPI that mortar calls or takes, as the standard declares them,
 * under both their names. For use after any mpi.h, whose declarations must agree. */
#ifndef MORTAR_FUNCTIONS_H
#define MORTAR_FUNCTIONS_H

#include "coll/forms.h"

#define COLLECTIVE(name, symbol, sent, received, more, family, about)                              \
    int MPI_##symbol(FORM(sent, received, more, int, int));                                        \
    int PMPI_##symbol(FORM(sent, received, more, int, int));                                       \
    COUNTED(received, int MPI_##symbol##_c(FORM(sent, received, more, MPI_Count, MPI_Aint));)
#include "coll/collectives.h"
#undef COLLECTIVE

#define FUNCTION(name, ...)                                                                        \
    int MPI_##name(__VA_ARGS__);                                                                   \
    int PMPI_##name(__VA_ARGS__);

FUNCTION(Init, int *, char ***)
FUNCTION(Init_thread, int *, char ***, int, int *)
FUNCTION(Finalize, void)
FUNCTION(Query_thread, int *)
FUNCTION(Get_library_version, char *, int *)
FUNCTION(Error_class, int, int *)
FUNCTION(Error_string, int, char *, int *)
FUNCTION(Alloc_mem, MPI_Aint, MPI_Info, void *)
FUNCTION(Free_mem, void *)
FUNCTION(Info_get, MPI_Info, const char *, int, char *, int *)

FUNCTION(Comm_rank, MPI_Comm, int *)
FUNCTION(Comm_size, MPI_Comm, int *)
FUNCTION(Comm_remote_size, MPI_Comm, int *)
FUNCTION(Comm_test_inter, MPI_Comm, int *)
FUNCTION(Comm_group, MPI_Comm, MPI_Group *)
FUNCTION(Comm_get_name, MPI_Comm, char *, int *)
FUNCTION(Comm_dup, MPI_Comm, MPI_Comm *)
FUNCTION(Comm_dup_with_info, MPI_Comm, MPI_Info, MPI_Comm *)
FUNCTION(Comm_split, MPI_Comm, int, int, MPI_Comm *)
FUNCTION(Comm_split_type, MPI_Comm, int, int, MPI_Info, MPI_Comm *)
FUNCTION(Comm_create, MPI_Comm, MPI_Group, MPI_Comm *)
FUNCTION(Comm_create_group, MPI_Comm, MPI_Group, int, MPI_Comm *)
FUNCTION(Comm_create_from_group, MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *)
FUNCTION(Comm_idup, MPI_Comm, MPI_Comm *, MPI_Request *)
FUNCTION(Comm_idup_with_info, MPI_Comm, MPI_Info, MPI_Comm *, MPI_Request *)
FUNCTION(Intercomm_merge, MPI_Comm, int, MPI_Comm *)
FUNCTION(Comm_free, MPI_Comm *)
FUNCTION(Comm_disconnect, MPI_Comm *)
FUNCTION(Comm_create_keyval, MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *,
         void *)
FUNCTION(Comm_free_keyval, int *)
FUNCTION(Comm_get_attr, MPI_Comm, int, void *, int *)
FUNCTION(Comm_set_attr, MPI_Comm, int, void *)
FUNCTION(Comm_get_errhandler, MPI_Comm, MPI_Errhandler *)
FUNCTION(Comm_set_errhandler, MPI_Comm, MPI_Errhandler)
FUNCTION(Comm_call_errhandler, MPI_Comm, int)
FUNCTION(Errhandler_free, MPI_Errhandler *)
FUNCTION(Group_free, MPI_Group *)
FUNCTION(Group_incl, MPI_Group, int, const int[], MPI_Group *)
FUNCTION(Group_size, MPI_Group, int *)
FUNCTION(Group_translate_ranks, MPI_Group, int, const int[], MPI_Group, int[])

FUNCTION(Topo_test, MPI_Comm, int *)
FUNCTION(Dims_create, int, int, int[])
FUNCTION(Cart_create, MPI_Comm, int, const int[], const int[], int, MPI_Comm *)
FUNCTION(Cart_sub, MPI_Comm, const int[], MPI_Comm *)
FUNCTION(Cart_get, MPI_Comm, int, int[], int[], int[])
FUNCTION(Cart_shift, MPI_Comm, int, int, int *, int *)
FUNCTION(Cartdim_get, MPI_Comm, int *)
FUNCTION(Graph_neighbors, MPI_Comm, int, int, int[])
FUNCTION(Graph_neighbors_count, MPI_Comm, int, int *)
FUNCTION(Dist_graph_create, MPI_Comm, int, const int[], const int[], const int[], const int[],
         MPI_Info, int, MPI_Comm *)
FUNCTION(Dist_graph_create_adjacent, MPI_Comm, int, const int[], const int[], int, const int[],
         const int[], MPI_Info, int, MPI_Comm *)
FUNCTION(Dist_graph_neighbors, MPI_Comm, int, int[], int[], int, int[], int[])
FUNCTION(Dist_graph_neighbors_count, MPI_Comm, int *, int *, int *)

FUNCTION(Send, const void *, int, MPI_Datatype, int, int, MPI_Comm)
FUNCTION(Recv, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *)
FUNCTION(Isend, const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *)
FUNCTION(Irecv, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *)
FUNCTION(Sendrecv, const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int,
         MPI_Comm, MPI_Status *)
FUNCTION(Probe, int, int, MPI_Comm, MPI_Status *)
FUNCTION(Iprobe, int, int, MPI_Comm, int *, MPI_Status *)
FUNCTION(Get_count, const MPI_Status *, MPI_Datatype, int *)
FUNCTION(Test, MPI_Request *, int *, MPI_Status *)
FUNCTION(Testall, int, MPI_Request[], int *, MPI_Status[])
FUNCTION(Testsome, int, MPI_Request[], int *, int[], MPI_Status[])
FUNCTION(Wait, MPI_Request *, MPI_Status *)
FUNCTION(Waitall, int, MPI_Request[], MPI_Status[])
FUNCTION(Waitsome, int, MPI_Request[], int *, int[], MPI_Status[])
FUNCTION(Ibarrier, MPI_Comm, MPI_Request *)
FUNCTION(Iallreduce, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *)
FUNCTION(Reduce_local, const void *, void *, int, MPI_Datatype, MPI_Op)
FUNCTION(Op_commutative, MPI_Op, int *)
FUNCTION(Op_free, MPI_Op *)
FUNCTION(Grequest_start, MPI_Grequest_query_function *, MPI_Grequest_free_function *,
         MPI_Grequest_cancel_function *, void *, MPI_Request *)
FUNCTION(Grequest_complete, MPI_Request)
FUNCTION(Status_set_elements, MPI_Status *, MPI_Datatype, int)
FUNCTION(Status_set_cancelled, MPI_Status *, int)

FUNCTION(Get_address, const void *, MPI_Aint *)
FUNCTION(Pack, const void *, int, MPI_Datatype, void *, int, int *, MPI_Comm)
FUNCTION(Unpack, const void *, int, int *, void *, int, MPI_Datatype, MPI_Comm)
FUNCTION(Type_size, MPI_Datatype, int *)
FUNCTION(Type_size_x, MPI_Datatype, MPI_Count *)
FUNCTION(Type_get_extent, MPI_Datatype, MPI_Aint *, MPI_Aint *)
FUNCTION(Type_get_extent_x, MPI_Datatype, MPI_Count *, MPI_Count *)
FUNCTION(Type_get_true_extent, MPI_Datatype, MPI_Aint *, MPI_Aint *)
FUNCTION(Type_get_true_extent_x, MPI_Datatype, MPI_Count *, MPI_Count *)
FUNCTION(Type_get_name, MPI_Datatype, char *, int *)
FUNCTION(Type_get_envelope, MPI_Datatype, int *, int *, int *, int *)
FUNCTION(Type_get_contents, MPI_Datatype, int, int, int, int[], MPI_Aint[], MPI_Datatype[])
FUNCTION(Type_get_envelope_c, MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *,
         int *)
FUNCTION(Type_get_contents_c, MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int[],
         MPI_Aint[], MPI_Count[], MPI_Datatype[])
FUNCTION(Type_contiguous, int, MPI_Datatype, MPI_Datatype *)
FUNCTION(Type_create_hindexed, int, const int[], const MPI_Aint[], MPI_Datatype, MPI_Datatype *)
FUNCTION(Type_create_struct, int, const int[], const MPI_Aint[], const MPI_Datatype[],
         MPI_Datatype *)
FUNCTION(Type_create_subarray, int, const int[], const int[], const int[], int, MPI_Datatype,
         MPI_Datatype *)
FUNCTION(Type_create_resized, MPI_Datatype, MPI_Aint, MPI_Aint, MPI_Datatype *)
FUNCTION(Type_commit, MPI_Datatype *)
FUNCTION(Type_free, MPI_Datatype *)
FUNCTION(Type_create_keyval, MPI_Type_copy_attr_function *, MPI_Type_delete_attr_function *, int *,
         void *)
FUNCTION(Type_free_keyval, int *)
FUNCTION(Type_get_attr, MPI_Datatype, int, void *, int *)
FUNCTION(Type_set_attr, MPI_Datatype, int, void *)

FUNCTION(Win_create, void *, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win *)
FUNCTION(Win_create_c, void *, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, MPI_Win *)
FUNCTION(Win_allocate, MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *)
FUNCTION(Win_allocate_c, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, void *, MPI_Win *)
FUNCTION(Win_attach, MPI_Win, void *, MPI_Aint)
FUNCTION(Win_detach, MPI_Win, const void *)
FUNCTION(Win_free, MPI_Win *)

FUNCTION(T_init_thread, int, int *)
FUNCTION(T_finalize, void)
FUNCTION(T_cvar_get_index, const char *, int *)
FUNCTION(T_cvar_handle_alloc, int, void *, MPI_T_cvar_handle *, int *)
FUNCTION(T_cvar_handle_free, MPI_T_cvar_handle *)
FUNCTION(T_cvar_read, MPI_T_cvar_handle, void *)
#undef FUNCTION

#endif
