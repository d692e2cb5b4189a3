/* SPDX-License-Identifier: BSD-3-Clause */
/* originals.h - a table of the functions, besides collectives and those of abi/makers.h, that the
 * engine calls in the MPI library under mortar: ORIGINAL(name, the library's name, parameters) is
 * in every library, LATER(...) NULL where the library has none. Define both before including it. */
ORIGINAL(init, PMPI_Init, (int *, char ***))
ORIGINAL(init_thread, PMPI_Init_thread, (int *, char ***, int, int *))
ORIGINAL(finalize, PMPI_Finalize, (void))
ORIGINAL(alloc_mem, PMPI_Alloc_mem, (MPI_Aint, MPI_Info, void *))
ORIGINAL(free_mem, PMPI_Free_mem, (void *))
ORIGINAL(win_create, PMPI_Win_create, (void *, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win *))
ORIGINAL(win_allocate, PMPI_Win_allocate, (MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *))
ORIGINAL(win_attach, PMPI_Win_attach, (MPI_Win, void *, MPI_Aint))
ORIGINAL(win_detach, PMPI_Win_detach, (MPI_Win, const void *))
ORIGINAL(win_free, PMPI_Win_free, (MPI_Win *))
ORIGINAL(bsend, PMPI_Bsend, (const void *, int, MPI_Datatype, int, int, MPI_Comm))
ORIGINAL(ibsend, PMPI_Ibsend, (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
ORIGINAL(iprobe, PMPI_Iprobe, (int, int, MPI_Comm, int *, MPI_Status *))
ORIGINAL(test, PMPI_Test, (MPI_Request *, int *, MPI_Status *))
ORIGINAL(testall, PMPI_Testall, (int, MPI_Request[], int *, MPI_Status[]))
ORIGINAL(testsome, PMPI_Testsome, (int, MPI_Request[], int *, int[], MPI_Status[]))
ORIGINAL(op_free, PMPI_Op_free, (MPI_Op *))
ORIGINAL(type_free, PMPI_Type_free, (MPI_Datatype *))
ORIGINAL(comm_free, PMPI_Comm_free, (MPI_Comm *))
ORIGINAL(comm_disconnect, PMPI_Comm_disconnect, (MPI_Comm *))
ORIGINAL(comm_idup, PMPI_Comm_idup, (MPI_Comm, MPI_Comm *, MPI_Request *))
ORIGINAL(intercomm_merge, PMPI_Intercomm_merge, (MPI_Comm, int, MPI_Comm *))
ORIGINAL(dist_graph_create, PMPI_Dist_graph_create,
         (MPI_Comm, int, const int[], const int[], const int[], const int[], MPI_Info, int,
          MPI_Comm *))
/* Only in MPI 4. Of the types both or none. */
LATER(type_get_envelope_c, PMPI_Type_get_envelope_c,
      (MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *, int *))
LATER(type_get_contents_c, PMPI_Type_get_contents_c,
      (MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int[], MPI_Aint[], MPI_Count[],
       MPI_Datatype[]))
LATER(win_create_c, PMPI_Win_create_c, (void *, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, MPI_Win *))
LATER(win_allocate_c, PMPI_Win_allocate_c,
      (MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, void *, MPI_Win *))
LATER(bsend_c, PMPI_Bsend_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm))
LATER(ibsend_c, PMPI_Ibsend_c,
      (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
LATER(comm_idup_with_info, PMPI_Comm_idup_with_info,
      (MPI_Comm, MPI_Info, MPI_Comm *, MPI_Request *))
LATER(comm_create_from_group, PMPI_Comm_create_from_group,
      (MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *))
/* Only in MPICH, from 4.2 on. */
LATER(threadcomm_init, PMPIX_Threadcomm_init, (MPI_Comm, int, MPI_Comm *))
/* Only in libraries that continue after a rank's death (ULFM). */
LATER(comm_is_revoked, PMPIX_Comm_is_revoked, (MPI_Comm, int *))
