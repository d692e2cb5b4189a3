/* SPDX-License-Identifier: BSD-3-Clause */
/* shortcuts PATH - calls that look like the one before them, which was left to the host MPI (it had
 * no bytes), and are not: another type under a handle that was used before, on some ranks only;
 * other counts, another root, another communicator with the same handle. Who takes one of them for
 * the one before leaves the others waiting. Many such calls in a row are counted one by one: the
 * report, written to PATH, must show all of them. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { most = 64, rounds = 30 };
static int errors, p, me, reused;

static void check(const int *found, int count, int first, int step) {
    for (int i = 0; i < count; i++) errors += found[i] != first + i * step;
}

/* Blocks of some ints, each one element of a type. Ranks with an odd number make it anew each time,
 * the others keep theirs. (An MPICH hangs where ranks name no bytes in different ways, as no
 * elements and as elements of nothing.) */
static void exchange(MPI_Comm comm, int ints, int round) {
    static MPI_Datatype kept[5], before;
    static int known[5];
    int send[4 * most], recv[4 * most], ranks, here;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &here);
    if (me % 2 || !known[ints])
        MPI_Type_contiguous(ints, MPI_INT, &kept[ints]), MPI_Type_commit(&kept[ints]);
    known[ints] = 1;
    MPI_Datatype type = kept[ints];
    reused += me % 2 && memcmp(&type, &before, sizeof type) == 0;
    before = type;
    for (int k = 0; k < ranks * ints; k++) send[k] = round + here * 1000 + k;
    MPI_Alltoall(send, 1, type, recv, 1, type, comm);
    for (int i = 0; i < ranks; i++) check(recv + i * ints, ints, round + i * 1000 + here * ints, 1);
    if (me % 2) MPI_Type_free(&type);
}

static void spread(MPI_Comm comm, int ints, int root, int round) {
    int ranks, here, buffer[4] = {0};
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &here);
    root %= ranks;
    for (int k = 0; k < ints; k++) buffer[k] = here == root ? round + k : -1;
    MPI_Bcast(buffer, ints, MPI_INT, root, comm);
    check(buffer, ints, round, 1);
}

static void add_up(MPI_Comm comm, int ints, int round) {
    int ranks, here, send[4], recv[4];
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &here);
    for (int k = 0; k < ints; k++) send[k] = round + k;
    MPI_Scan(send, recv, ints, MPI_INT, MPI_SUM, comm);
    check(recv, ints, (here + 1) * round, here + 1);
}

static void all_of(MPI_Comm comm, int ints, int round) {
    exchange(comm, ints, round);
    spread(comm, ints, round, round);
    add_up(comm, ints, round);
}

/* No bytes between neighbours, of a type that one rank after the other changes. Over several nodes
 * the ranks tell each other now and then what they have had, all at the same call, also when it was
 * nothing. */
static void nothing(void) {
    int zeros[2] = {0}, periods[1] = {1}, room[1];
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &p, periods, 0, &ring);
    for (int call = 0; call < 300; call++) {
        MPI_Datatype type = (call / 5 + me) % p ? MPI_INT : MPI_BYTE;
        MPI_Neighbor_alltoallv(room, zeros, zeros, type, room, zeros, zeros, type, ring);
    }
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int round = 1; round <= rounds; round++) {
        all_of(MPI_COMM_WORLD, 0, round);
        all_of(MPI_COMM_WORLD, 0, round);
        all_of(MPI_COMM_WORLD, 1 + round % 4, round);
        MPI_Comm comm; /* mostly with the handle of the one before */
        MPI_Comm_split(MPI_COMM_WORLD, round % 3 ? 0 : me % 2, round % 2 ? me : -me, &comm);
        all_of(comm, round % 2 ? 0 : 2, round);
        all_of(comm, 1, round);
        MPI_Comm_free(&comm);
    }
    nothing();
    for (int i = 0; i < 1000; i++) MPI_Reduce(&me, NULL, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    int (*report)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "mortar_report");
    if (argc > 1) errors += !report || report(argv[1]) != 0;
    int sums[2] = {errors, reused}, all[2];
    MPI_Allreduce(sums, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors; %d handles came again\n", p, all[0], all[1]);
    MPI_Finalize();
    return all[0] > 0;
}
