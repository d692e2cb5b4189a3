/* SPDX-License-Identifier: BSD-3-Clause */
/* sessions - MPI without MPI_COMM_WORLD: twice before MPI_Init, once between MPI_Init and
 * MPI_Finalize, once afterwards. */
#include <mpi.h>

#include <stdio.h>

static int errors, p, me;

static void use(MPI_Comm comm) {
    enum { most = 64 };
    int sum = 0, send[2 * most], recv[2 * most];
    MPI_Datatype pairs;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    MPI_Type_vector(1, 2, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    for (int k = 0; k < 5; k++) {
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
        errors += sum != p * (p - 1) / 2;
        for (int j = 0; j < 2 * p; j++) send[j] = me * 100 + j;
        MPI_Alltoall(send, 1, pairs, recv, 2, MPI_INT, comm);
        for (int i = 0; i < p; i++)
            errors += recv[2 * i] != i * 100 + 2 * me || recv[2 * i + 1] != i * 100 + 2 * me + 1;
        MPI_Barrier(comm);
    }
    MPI_Type_free(&pairs);
}

static void session(const char *tag) {
    MPI_Session self;
    MPI_Group group;
    MPI_Comm comm, copy;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &self);
    MPI_Group_from_session_pset(self, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    use(comm);
    MPI_Comm_dup(comm, &copy);
    use(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&self);
}

/* usage: sessions [MANY]: without, one session and no more, for MPIs that do not take another. */
int main(int argc, char **argv) {
    if (argc > 1) session("first");
    session("second");
    if (argc > 1) {
        MPI_Init(&argc, &argv);
        use(MPI_COMM_WORLD);
        session("third");
        use(MPI_COMM_WORLD);
        MPI_Finalize();
    }
    printf("rank %d of %d: %d errors\n", me, p, errors);
    return errors > 0;
}
