/* SPDX-License-Identifier: BSD-3-Clause */
/* dies - a rank dies while the others wait for it, and the MPI library goes on without it: each of
 * them hears of it. usage: dies barrier|allreduce|bcast|alltoall */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int call(const char *which, MPI_Comm comm) {
    static int in[4096], out[4096];
    if (strcmp(which, "barrier") == 0) return MPI_Barrier(comm);
    if (strcmp(which, "bcast") == 0) return MPI_Bcast(in, 4096, MPI_INT, 1, comm);
    if (strcmp(which, "allreduce") == 0)
        return MPI_Allreduce(in, out, 4096, MPI_INT, MPI_SUM, comm);
    return MPI_Alltoall(in, 16, MPI_INT, out, 16, MPI_INT, comm);
}

int main(int argc, char **argv) {
    int me, error = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 5; i++) call(argc > 1 ? argv[1] : "barrier", MPI_COMM_WORLD);
    if (me == 1) raise(SIGKILL);
    for (int i = 0; i < 5 && error == MPI_SUCCESS; i++)
        error = call(argc > 1 ? argv[1] : "barrier", MPI_COMM_WORLD);
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (error != MPI_SUCCESS) MPI_Error_string(error, text, &length);
    printf("rank %d: %s\n", me, error == MPI_SUCCESS ? "no error" : text);
    fflush(stdout);
    _exit(0);
}
