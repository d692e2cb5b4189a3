/* SPDX-License-Identifier: BSD-3-Clause */
/* young - communicators that live for a few calls, one after the other and several at a time. What
 * every call must deliver is known. Says how many communicators' shared memory this process has
 * ever seen.
 *     young COMMUNICATORS CALLS [SUMS]
 *     young makers CALLS   one by each call that makes communicators of all ranks
 *     young late      one rank comes late to the second of three calls */
#define _GNU_SOURCE
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_ranks = 64, most_seen = 4096 };
static int errors, round;
static unsigned long seen[most_seen];
static int seen_count;

/* Notes the inodes of all mapped control blocks. */
static void look_at_maps(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long inode = 0;
        int known = 0;
        if (!strstr(line, "memfd:mortar-team") || sscanf(line, "%*s %*s %*s %*s %lu", &inode) != 1)
            continue;
        while (known < seen_count && seen[known] != inode) known++;
        if (known == seen_count && seen_count < most_seen) seen[seen_count++] = inode;
    }
    if (maps) fclose(maps);
}

static void use(MPI_Comm comm, int calls) {
    int p, me, send[most_ranks], recv[most_ranks], sum;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    for (int call = 0; call < calls; call++) {
        round++;
        int root = round % p, word = me == root ? round : -1;
        for (int j = 0; j < p; j++) send[j] = round * 10000 + me * 100 + j;
        if (call % 3 == 0) {
            MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, comm);
            for (int i = 0; i < p; i++) errors += recv[i] != round * 10000 + i * 100 + me;
        } else if (call % 3 == 1) {
            MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, comm);
            errors += sum != p * round;
        } else {
            MPI_Bcast(&word, 1, MPI_INT, root, comm);
            errors += word != round;
        }
    }
    look_at_maps();
}

enum { makers = 10 };

/* A communicator of the same ranks, with the same numbers. */
static MPI_Comm make(int maker, int p, int me) {
    MPI_Comm comm = MPI_COMM_NULL, grid;
    MPI_Group group;
    const int sides[2] = {p, 1}, periods[2] = {0, 0}, kept[2] = {1, 0};
    const int next = (me + 1) % p, last = (me + p - 1) % p, one = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    switch (maker) {
    case 0: MPI_Comm_dup(MPI_COMM_WORLD, &comm); break;
    case 1: MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm); break;
    case 2: MPI_Comm_split(MPI_COMM_WORLD, 5, me, &comm); break;
    case 3:
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &comm);
        break;
    case 4: MPI_Comm_create(MPI_COMM_WORLD, group, &comm); break;
    case 5: MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &comm); break;
    case 6: MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &comm); break;
    case 7:
        MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &grid);
        MPI_Cart_sub(grid, kept, &comm);
        MPI_Comm_free(&grid);
        break;
    case 8:
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &one, &next, &one, MPI_INFO_NULL, 0, &comm);
        break;
    case 9:
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, &one, 1, &next, &one,
                                       MPI_INFO_NULL, 0, &comm);
        break;
    }
    MPI_Group_free(&group);
    int alike = MPI_UNEQUAL;
    if (comm != MPI_COMM_NULL) MPI_Comm_compare(MPI_COMM_WORLD, comm, &alike);
    errors += alike != MPI_CONGRUENT;
    return comm;
}

/* A call that this rank makes alone, and that its library refuses: for mortar it was none. */
static void refused(MPI_Comm comm) {
    int word = 0, me;
    MPI_Comm_rank(comm, &me);
    if (me != 0) return;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    errors += MPI_Bcast(&word, -1, MPI_INT, 0, comm) == MPI_SUCCESS;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

/* Sums of floating-point numbers, between calls of which one rank comes late. */
static void add(int sums, int me) {
    double mine = 0.1 * (me + 1), all;
    for (int i = 0; i < sums; i++) {
        if (i % 500 == 499 && me == 0) usleep(20000);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int p, me, count = atoi(argv[1]), calls = atoi(argv[2]), all = 0;
    MPI_Comm comm, half, pair[2];
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (strcmp(argv[1], "makers") == 0)
        for (int k = 0; k < 2 * makers; k++) {
            comm = make(k % makers, p, me);
            use(comm, calls);
            (k < makers ? MPI_Comm_free : MPI_Comm_disconnect)(&comm);
        }
    if (strcmp(argv[1], "late") == 0) {
        use(MPI_COMM_WORLD, 1);
        if (me == 0) usleep(300000);
        use(MPI_COMM_WORLD, 1);
        use(MPI_COMM_WORLD, 1);
    }
    if (argc > 3) add(atoi(argv[3]), me);
    for (int k = 0; k < count; k++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (k % 4 == 1) refused(comm);
        use(comm, calls);
        MPI_Comm_free(&comm);
    }
    for (int k = 0; k < count; k++) {
        MPI_Comm_split(MPI_COMM_WORLD, (me + k) % 2, k % 3 ? me : -me, &half);
        int before = round;
        use(half, calls);
        round = before + calls;
        MPI_Comm_free(&half);
    }
    /* Ranks free them in another order, and so keep another team last. */
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &pair[i]);
        for (int i = 0; i < 2; i++) use(pair[i % 2], calls);
        MPI_Comm_free(&pair[me % 2]);
        MPI_Comm_free(&pair[!(me % 2)]);
    }
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors, %d teams seen\n", p, all, seen_count);
    MPI_Finalize();
    return 0;
}
