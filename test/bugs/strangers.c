/* SPDX-License-Identifier: BSD-3-Clause */
/* strangers - communicators with processes that `mortar run` did not start: `spawn` starts as many
 * again, which run without mortar, and merges both; what comes from that communicator has strangers
 * or not. `connect`: the two halves of one job find each other by MPI_Comm_accept and
 * MPI_Comm_connect; they are no strangers. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

static int errors, child;

static void use(MPI_Comm comm) {
    enum { most = 64 };
    int p, me, sum = 0, send[most], recv[most];
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    for (int k = 0; k < 5; k++) {
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
        errors += sum != p * (p - 1) / 2;
        for (int j = 0; j < p; j++) send[j] = k * 10000 + me * 100 + j;
        MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, comm);
        for (int i = 0; i < p; i++) errors += recv[i] != k * 10000 + i * 100 + me;
        MPI_Barrier(comm);
    }
}

static void use_and_free(MPI_Comm comm) {
    use(comm);
    MPI_Comm_free(&comm);
}

/* Merged, and what can be made of that: 5 calls of each collective on each. */
static void use_all(MPI_Comm merged, int side) {
    MPI_Comm comm;
    int me, p;
    MPI_Comm_rank(merged, &me);
    MPI_Comm_size(merged, &p);
    use(merged);
    MPI_Comm_dup(merged, &comm);
    use_and_free(comm);
    MPI_Comm_split(merged, side, me, &comm); /* the sides apart */
    use_and_free(comm);
    MPI_Comm_split(merged, me % (p / 2), -me, &comm); /* one of each */
    use_and_free(comm);
}

static void spawn(char *program) {
    MPI_Comm others, merged;
    int me;
    MPI_Comm_get_parent(&others);
    child = others != MPI_COMM_NULL;
    char *words[] = {"spawn", NULL};
    if (!child) {
        int p, *codes = MPI_ERRCODES_IGNORE;
        MPI_Comm_size(MPI_COMM_WORLD, &p);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (MPI_Comm_spawn(program, words, p, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, codes) !=
            MPI_SUCCESS) {
            MPI_Comm_rank(MPI_COMM_WORLD, &me);
            if (me == 0) printf("this MPI cannot spawn here\n");
            return;
        }
        use(MPI_COMM_WORLD);
    }
    MPI_Intercomm_merge(others, child, &merged);
    use_all(merged, child);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&others);
}

static void meet(void) {
    int p, me, first;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, others, merged;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    first = me < p / 2;
    MPI_Comm_split(MPI_COMM_WORLD, first, me, &half);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = me == 0 ? MPI_Open_port(MPI_INFO_NULL, port) : MPI_SUCCESS;
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(&error, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (error != MPI_SUCCESS) {
        if (me == 0) printf("this MPI cannot connect here\n");
        return;
    }
    if (first) MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &others);
    else MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &others);
    MPI_Intercomm_merge(others, !first, &merged);
    use_all(merged, first);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&others);
    if (me == 0) MPI_Close_port(port);
    use_and_free(half);
}

int main(int argc, char **argv) {
    int p, me;
    MPI_Init(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "connect") == 0) meet();
    else spawn(argv[0]);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%s: %d ranks, %d errors\n", child ? "children" : "parents", p, errors);
    MPI_Finalize();
    return errors > 0;
}
