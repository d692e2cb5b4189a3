/* SPDX-License-Identifier: BSD-3-Clause */
/* large - the large-count forms of MPI 4, which mortar has even where the MPI library is older. */
#include <mpi.h>

#include <stdio.h>

#if MPI_VERSION < 4 /* as programs do that want to run with any MPI */
#pragma weak MPI_Alltoall_c
#pragma weak MPI_Allgather_c
#pragma weak MPI_Gatherv_c
int MPI_Alltoall_c(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype,
                   MPI_Comm);
int MPI_Allgather_c(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype,
                    MPI_Comm);
int MPI_Gatherv_c(const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *,
                  const MPI_Aint *, MPI_Datatype, int, MPI_Comm);
#endif

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int p, me, errors = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    enum { most = 128 };
    double send[most], recv[most];
    for (int j = 0; j < p; j++) send[j] = 100 * me + j;
    MPI_Alltoall_c(send, (MPI_Count)1, MPI_DOUBLE, recv, (MPI_Count)1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++) errors += recv[i] != 100 * i + me;
    MPI_Allgather_c(send, (MPI_Count)1, MPI_DOUBLE, recv, (MPI_Count)1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++) errors += recv[i] != 100 * i;
    /* Blocks of several lengths, from the last to the first. */
    MPI_Count counts[most], count = me % 3;
    MPI_Aint displs[most];
    for (int i = 0; i < p; i++)
        counts[i] = i % 3, displs[i] = 2 * (p - 1 - i), recv[2 * i] = recv[2 * i + 1] = -1;
    MPI_Gatherv_c(send, count, MPI_DOUBLE, recv, me == 0 ? counts : NULL, me == 0 ? displs : NULL,
                  MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; me == 0 && i < p; i++)
        for (int k = 0; k < 2; k++) errors += recv[displs[i] + k] != (k < i % 3 ? 100 * i + k : -1);
#if MPI_VERSION < 4 /* more than the library can do: mortar does it, or gives the error */
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_DOUBLE, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int class = MPI_SUCCESS, error = MPI_Allgather_c(send, (MPI_Count)1 << 32, nothing, recv,
                                                     (MPI_Count)1 << 32, nothing, MPI_COMM_SELF);
    if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
    errors += class != MPI_SUCCESS && class != MPI_ERR_COUNT;
    MPI_Type_free(&nothing);
#endif
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
