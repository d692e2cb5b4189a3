/* SPDX-License-Identifier: BSD-3-Clause */
/* lifetime - communicators that end in unusual ways: in reverse order, parents before children, by
 * MPI_Comm_disconnect, never; and those that begin in unusual ways: MPI_Comm_idup, from a group,
 * with a handle that was used before. */
#include <mpi.h>

#include <stdio.h>

static int errors, round;

static void use(MPI_Comm comm) {
    enum { most = 64 };
    int p, me, send[most], recv[most];
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    round++;
    for (int j = 0; j < p; j++) send[j] = round * 10000 + me * 100 + j;
    MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, comm);
    for (int i = 0; i < p; i++) errors += recv[i] != round * 10000 + i * 100 + me;
}

static void chain(int backwards) {
    enum { length = 6 };
    MPI_Comm comms[length];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    for (int i = 1; i < length; i++) use(comms[i - 1]), MPI_Comm_dup(comms[i - 1], &comms[i]);
    for (int i = 0; i < length; i++) use(comms[i]);
    for (int i = 0; i < length; i++) MPI_Comm_free(&comms[backwards ? length - 1 - i : i]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int p, me;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm comm, forgotten[3];
    for (int k = 0; k < 4; k++) chain(k % 2);

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm);
    MPI_Comm_disconnect(&comm);

    MPI_Request request;
    use(MPI_COMM_WORLD);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    use(MPI_COMM_WORLD); /* between start and end of the idup */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(comm);
    MPI_Comm_free(&comm);

    for (int k = 0; k < 20; k++) { /* the handle of the one before, another size and order */
        MPI_Comm_split(MPI_COMM_WORLD, k % 2 ? me % 2 : 0, k % 3 ? me : -me, &comm);
        use(comm);
        MPI_Comm_free(&comm);
    }

    MPI_Group world, some;
    int even[64];
    for (int i = 0; i < (p + 1) / 2; i++) even[i] = 2 * i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, (p + 1) / 2, even, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    if (comm != MPI_COMM_NULL) use(comm), MPI_Comm_free(&comm);
    else round++;
    MPI_Group_free(&some);
    MPI_Group_free(&world);

    MPI_Comm_dup(MPI_COMM_WORLD, &forgotten[0]); /* alive at MPI_Finalize */
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &forgotten[1]);
    MPI_Comm_dup(MPI_COMM_SELF, &forgotten[2]);
    for (int i = 0; i < 3; i++) use(forgotten[i]);
    use(MPI_COMM_SELF);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
