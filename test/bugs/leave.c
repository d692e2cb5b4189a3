/* SPDX-License-Identifier: BSD-3-Clause */
/* leave - an error handler that leaves by longjmp on one rank: its next calls are to meet the other
 * ranks' all the same, and so are the calls of a handler that returns. Broadcasts and MPI_Alltoallv
 * are to be switched off, so that the MPI library finds some of the mistakes in a call that mortar
 * has handed to it. */
#include <mpi.h>

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static jmp_buf back;
static int me, p, errors, caught;

static void handler(MPI_Comm *comm, int *error, ...) {
    (void)comm, (void)error;
    longjmp(back, 1);
}

static void meet(void) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    errors += sum != p;
}

/* With other things on the stack where the call that was left had its own. */
static void __attribute__((noinline)) meet_below(void) {
    volatile char pad[1 << 16];
    memset((void *)(uintptr_t)pad, 0x55, sizeof pad);
    meet();
    errors += pad[0] != 0x55;
}

/* With nothing written there. */
static void __attribute__((noinline)) meet_beyond(void) {
    volatile char pad[1 << 15];
    pad[0] = 0x55;
    meet();
    errors += pad[0] != 0x55;
}

/* Does not leave, but meets the other ranks, which have no error. */
static void meets(MPI_Comm *comm, int *error, ...) {
    (void)comm, (void)error;
    caught++;
    meet();
}

/* late: seconds that rank 0 takes before the next call; others look for the reason after one. */
static void after(void (*call)(MPI_Comm), MPI_Comm comm, double late) {
    if (setjmp(back) == 0) call(comm);
    else caught++;
    for (double start = MPI_Wtime(); me == 0 && MPI_Wtime() - start < late;) {}
    meet_beyond();
    meet();
    meet_below();
}

static void bad_root(MPI_Comm comm) {
    int x = 0;
    MPI_Bcast(&x, 1, MPI_INT, me == 0 ? 99 : 0, me == 0 ? comm : MPI_COMM_SELF);
}
static void negative(MPI_Comm comm) {
    int x = 0;
    if (me == 0) MPI_Alltoall(&x, -1, MPI_INT, &x, 1, MPI_INT, comm);
}
static void too_long(MPI_Comm comm) {
    int x[64] = {0};
    MPI_Bcast(x, me == 1 ? 8 : 15, MPI_INT, 0, comm);
}

/* All ranks have repeated a call, then one has a negative count in its list. */
static void known(MPI_Comm comm) {
    int counts[64], displs[64], x[64] = {0}, y[64];
    for (int i = 0; i < p; i++) counts[i] = 1, displs[i] = i;
    for (int i = 0; i < 20; i++)
        MPI_Alltoallv(x, counts, displs, MPI_INT, y, counts, displs, MPI_INT, comm);
    counts[p - 1] = -1;
    if (me == 0) MPI_Alltoallv(x, counts, displs, MPI_INT, y, counts, displs, MPI_INT, comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm comm;
    MPI_Errhandler leaves, returns;
    MPI_Comm_create_errhandler(handler, &leaves);
    MPI_Comm_create_errhandler(meets, &returns);
    MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, leaves);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, leaves);
    MPI_Comm_set_errhandler(comm, leaves);
    after(bad_root, MPI_COMM_WORLD, 0);
    after(bad_root, comm, 0); /* nobody has called anything there yet */
    after(negative, MPI_COMM_SELF, 0);
    after(negative, MPI_COMM_WORLD, 0);
    after(too_long, comm, 0);
    after(known, MPI_COMM_WORLD, 2.5);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    after(known, MPI_COMM_WORLD, 2.5);
    MPI_Comm_set_errhandler(comm, returns);
    too_long(comm);
    if (me != 1) meet();
    errors += caught != (me == 0 ? 5 : me == 1 ? 2 : 0);
    int all = 0;
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Errhandler_free(&leaves);
    MPI_Errhandler_free(&returns);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return all != 0;
}
