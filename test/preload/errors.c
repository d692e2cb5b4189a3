/* SPDX-License-Identifier: BSD-3-Clause */
/* errors - prints the error classes of wrong calls, the same ones on all ranks; with mortar they
 * have to be the host's. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

static int me, handled;

static void handler(MPI_Comm *comm, int *error, ...) {
    (void)comm, (void)error;
    handled++;
}

static void say(const char *what, int error) {
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    if (me == 0) printf("%s: class %d, handler called %d times\n", what, class, handled);
    handled = 0;
}

static void both(const char *what, const void *send, int sent, MPI_Datatype from, void *recv,
                 int received, MPI_Datatype to, MPI_Comm comm) {
    char text[64];
    snprintf(text, sizeof text, "alltoall, %s", what);
    say(text, MPI_Alltoall(send, sent, from, recv, received, to, comm));
    snprintf(text, sizeof text, "allgather, %s", what);
    say(text, MPI_Allgather(send, sent, from, recv, received, to, comm));
}

static void all(MPI_Comm comm) {
    static int send[1024], recv[1024];
    MPI_Datatype gaps;
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    both("nothing wrong", send, 1, MPI_INT, recv, 1, MPI_INT, comm);
    both("send count -1", send, -1, MPI_INT, recv, 1, MPI_INT, comm);
    both("receive count -1", send, 1, MPI_INT, recv, -1, MPI_INT, comm);
    both("no send type", send, 1, MPI_DATATYPE_NULL, recv, 1, MPI_INT, comm);
    both("no receive type", send, 1, MPI_INT, recv, 1, MPI_DATATYPE_NULL, comm);
    both("uncommitted types", send, 1, gaps, recv, 1, gaps, comm);
    /* not with an allgather: Open MPI 4 crashes */
    say("alltoall, no communicator",
        MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, MPI_COMM_NULL));
#ifdef MPICH_NAME /* Open MPI does not look */
    both("no receive buffer", send, 1, MPI_INT, NULL, 1, MPI_INT, comm);
#endif
    both("receive in place", send, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm);
    both("nothing wrong", send, 1, MPI_INT, recv, 1, MPI_INT, comm);
    say("alloc_mem, nowhere to put the address", MPI_Alloc_mem(100, MPI_INFO_NULL, NULL));
#ifdef MPICH_NAME /* Open MPI crashes */
    say("win_free, no window's address", MPI_Win_free(NULL));
#endif
    MPI_Type_free(&gaps);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    /* For what belongs to no communicator. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    all(comm);
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(comm, own);
    all(comm);
    MPI_Errhandler_free(&own);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
