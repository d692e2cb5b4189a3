/* SPDX-License-Identifier: BSD-3-Clause */
/* steady [PLAN] - a program that repeats each collective, and a dozen of them one after the other,
 * from the same arguments, on two communicators in turns: mortar has to remember the calls, and
 * examine few. Prints, for each collective and count, the most calls that a rank had examined. With
 * PLAN that plan is forced by mortar_plan before each. At last types and operations of its own are
 * made anew, mostly under the handles of others before, and every number is checked. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { rounds = 500, most_ranks = 64, most_ints = 64 };

static int p, me, ints;
static MPI_Comm comms[2], rings[2], comm, ring;
static int send[most_ranks * most_ints], recv[most_ranks * most_ints];
static int counts[most_ranks], displs[most_ranks], bytes[most_ranks];
static MPI_Aint places[most_ranks];
static MPI_Datatype types[most_ranks];

/* ---- the calls ---- */

static void alltoall(void) { MPI_Alltoall(send, ints, MPI_INT, recv, ints, MPI_INT, comm); }
static void alltoallv(void) {
    MPI_Alltoallv(send, counts, displs, MPI_INT, recv, counts, displs, MPI_INT, comm);
}
static void alltoallw(void) {
    MPI_Alltoallw(send, counts, bytes, types, recv, counts, bytes, types, comm);
}
static void allgather(void) { MPI_Allgather(send, ints, MPI_INT, recv, ints, MPI_INT, comm); }
static void allgatherv(void) {
    MPI_Allgatherv(send, ints, MPI_INT, recv, counts, displs, MPI_INT, comm);
}
static void bcast(void) { MPI_Bcast(me == 0 ? send : recv, ints, MPI_INT, 0, comm); }
static void gather(void) { MPI_Gather(send, ints, MPI_INT, recv, ints, MPI_INT, 0, comm); }
static void gatherv(void) {
    MPI_Gatherv(send, ints, MPI_INT, recv, counts, displs, MPI_INT, 0, comm);
}
static void scatter(void) { MPI_Scatter(send, ints, MPI_INT, recv, ints, MPI_INT, 0, comm); }
static void scatterv(void) {
    MPI_Scatterv(send, counts, displs, MPI_INT, recv, ints, MPI_INT, 0, comm);
}
static void reduce(void) { MPI_Reduce(send, recv, ints, MPI_INT, MPI_SUM, 0, comm); }
static void allreduce(void) { MPI_Allreduce(send, recv, ints, MPI_INT, MPI_SUM, comm); }
static void allreduce_in_place(void) {
    MPI_Allreduce(MPI_IN_PLACE, recv, ints, MPI_INT, MPI_SUM, comm);
}
static void allgather_in_place(void) {
    MPI_Allgather(MPI_IN_PLACE, ints, MPI_INT, recv, ints, MPI_INT, comm);
}
static void reduce_scatter(void) { MPI_Reduce_scatter(send, recv, counts, MPI_INT, MPI_SUM, comm); }
static void reduce_scatter_block(void) {
    MPI_Reduce_scatter_block(send, recv, ints, MPI_INT, MPI_SUM, comm);
}
static void scan(void) { MPI_Scan(send, recv, ints, MPI_INT, MPI_SUM, comm); }
static void exscan(void) { MPI_Exscan(send, recv, ints, MPI_INT, MPI_SUM, comm); }
static void barrier(void) { MPI_Barrier(comm); }
static void neighbor_alltoall(void) {
    MPI_Neighbor_alltoall(send, ints, MPI_INT, recv, ints, MPI_INT, ring);
}
static void neighbor_alltoallv(void) {
    MPI_Neighbor_alltoallv(send, counts, displs, MPI_INT, recv, counts, displs, MPI_INT, ring);
}
static void neighbor_alltoallw(void) {
    MPI_Neighbor_alltoallw(send, counts, places, types, recv, counts, places, types, ring);
}
static void neighbor_allgather(void) {
    MPI_Neighbor_allgather(send, ints, MPI_INT, recv, ints, MPI_INT, ring);
}
static void neighbor_allgatherv(void) {
    MPI_Neighbor_allgatherv(send, ints, MPI_INT, recv, counts, displs, MPI_INT, ring);
}

/* Of a type of the program's own, which is remembered after some dozens of calls. */
static MPI_Datatype pair;
static void bcast_pairs(void) { MPI_Bcast(me == 0 ? send : recv, ints / 2, pair, 0, comm); }
static void alltoall_pairs(void) { MPI_Alltoall(send, ints / 2, pair, recv, ints / 2, pair, comm); }
/* Elements with gaps, whose calls are not ready, but need not be examined either. */
static MPI_Datatype gaps;
static void bcast_gaps(void) { MPI_Bcast(me == 0 ? send : recv, ints / 2, gaps, 0, comm); }
static void allreduce_maxloc(void) {
    MPI_Allreduce(send, recv, 1 + ints / 4, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
}
/* By the program's own operation. */
static MPI_Op own;
static void reduce_own(void) { MPI_Reduce(send, recv, ints, MPI_INT, own, 0, comm); }
static void allreduce_own(void) { MPI_Allreduce(send, recv, ints, MPI_INT, own, comm); }
static void scan_own(void) { MPI_Scan(send, recv, ints, MPI_INT, own, comm); }

static const struct {
    const char *name;
    void (*call)(void);
} collectives[] = {
    {"alltoall", alltoall},
    {"alltoallv", alltoallv},
    {"alltoallw", alltoallw},
    {"allgather", allgather},
    {"allgatherv", allgatherv},
    {"bcast", bcast},
    {"gather", gather},
    {"gatherv", gatherv},
    {"scatter", scatter},
    {"scatterv", scatterv},
    {"reduce", reduce},
    {"allreduce", allreduce},
    {"allreduce_in_place", allreduce_in_place},
    {"allgather_in_place", allgather_in_place},
    {"reduce_scatter", reduce_scatter},
    {"reduce_scatter_block", reduce_scatter_block},
    {"scan", scan},
    {"exscan", exscan},
    {"barrier", barrier},
    {"neighbor_alltoall", neighbor_alltoall},
    {"neighbor_alltoallv", neighbor_alltoallv},
    {"neighbor_alltoallw", neighbor_alltoallw},
    {"neighbor_allgather", neighbor_allgather},
    {"neighbor_allgatherv", neighbor_allgatherv},
    {"bcast_pairs", bcast_pairs},
    {"alltoall_pairs", alltoall_pairs},
    {"bcast_gaps", bcast_gaps},
    {"allreduce_maxloc", allreduce_maxloc},
    {"reduce_own", reduce_own},
    {"allreduce_own", allreduce_own},
    {"scan_own", scan_own},
};

/* Types that end after many calls, and others that come under their handles; ranks with an odd
 * number make them anew more often. */
static void remake(int length, MPI_Datatype *type, MPI_Datatype *odds) {
    if (*type != MPI_DATATYPE_NULL) MPI_Type_free(type), MPI_Type_free(odds);
    MPI_Type_contiguous(length, MPI_INT, type);
    MPI_Type_vector(length, 1, 2, MPI_INT, odds); /* every second number */
    MPI_Type_commit(type);
    MPI_Type_commit(odds);
}

static int wrong_after_remaking(void) {
    int wrong = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL, odds = MPI_DATATYPE_NULL;
    for (int k = 0; k < 4000; k++) {
        int length = 1 + k / 200 % 3;
        if (k % 200 == 0 || (me % 2 && k % 100 == 0)) remake(length, &type, &odds);
        int mine[3] = {k + me, k + me + 1, k + me + 2}, all[3 * most_ranks + 1];
        int one[4] = {-1, -1, -1, -1};
        memset(all, -1, sizeof all);
        MPI_Allgather(mine, 1, type, all, 1, type, comms[0]);
        MPI_Bcast(me == 1 ? mine : one, 1, type, 1, comms[0]);
        for (int i = 0; i <= p * length; i++)
            wrong += all[i] != (i < p * length ? k + i / length + i % length : -1);
        for (int i = 0; i < 4 && me != 1; i++) wrong += one[i] != (i < length ? k + 1 + i : -1);
        int apart[6] = {k, -1, k + 1, -1, k + 2, -1}, some[6] = {-1, -1, -1, -1, -1, -1};
        MPI_Bcast(me == 0 ? apart : some, 1, odds, 0, comms[0]);
        for (int i = 0; i < 6 && me != 0; i++)
            wrong += some[i] != (i % 2 == 0 && i / 2 < length ? apart[i] : -1);
    }
    MPI_Type_free(&type);
    MPI_Type_free(&odds);
    return wrong;
}

/* ---- operations ---- */

static void op_sum(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}
static void op_left(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    memcpy(inout, in, (size_t)*n * sizeof(int));
}
static void op_right(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)in, (void)inout, (void)n, (void)type;
}

/* Operations that end after many calls, and others under their handles, which may not commute. */
static int wrong_after_new_ops(void) {
    static MPI_User_function *const functions[] = {op_sum, op_left, op_right};
    int wrong = 0;
    MPI_Op op = MPI_OP_NULL;
    for (int k = 0; k < 4000; k++) {
        int which = k / 200 % 3;
        if (k % 200 == 0 || (me % 2 && k % 100 == 0)) {
            if (op != MPI_OP_NULL) MPI_Op_free(&op);
            MPI_Op_create(functions[which], which == 0, &op);
        }
        int mine[2] = {k + me, k - me}, all[2] = {-1, -1}, root = -1;
        const int right[] = {p * k + p * (p - 1) / 2, k, k + p - 1};
        const int both = 2 * k * (which == 0 ? p : 1); /* all[0] + all[1] */
        MPI_Allreduce(mine, all, 2, MPI_INT, op, comms[0]);
        MPI_Reduce(mine, &root, 1, MPI_INT, op, 0, comms[0]);
        wrong += all[0] != right[which] || all[0] + all[1] != both;
        wrong += me == 0 && root != right[which];
    }
    MPI_Op_free(&op);
    return wrong;
}

/* ---- communicators that come and go ---- */

/* Two calls on one communicator, and between them another one is made, used and freed. */
static void beside_others(void) {
    MPI_Comm other;
    bcast();
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Bcast(recv, 1, MPI_INT, 0, other); /* this one is examined */
    MPI_Comm_free(&other);
    allreduce();
}

/* ---- all ---- */

enum { kinds = sizeof collectives / sizeof *collectives };

static void dozen(void) {
    for (int c = 0; c < 12; c++) collectives[c].call();
}

/* The blocks of a solver change from call to call, and come again. */
static void hundred(void) {
    for (int k = 1; k <= 100; k++) MPI_Bcast(recv, k, MPI_INT, 0, comm);
}

static long most_examined(void (*call)(void), int (*examined)(uint64_t *)) {
    uint64_t before = 0, after = 0;
    examined(&before);
    for (int k = 0; k < rounds; k++) comm = comms[k % 2], ring = rings[k % 2], call();
    examined(&after);
    long mine = (long)(after - before), most = 0;
    PMPI_Allreduce(&mine, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* Calls that differ in the type sent alone, which is as long. */
static int wrong_after_other_types(void) {
    MPI_Datatype apart;
    int wrong = 0;
    MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    for (int k = 0; k < 2 * rounds; k++) {
        int step = k / 3 % 2 ? 1 : 2;
        for (int i = 0; i < 4; i++) send[i] = 1000 * me + 10 * k + i;
        MPI_Allgather(send, 1, step == 1 ? pair : apart, recv, 1, pair, comm);
        for (int r = 0; r < p; r++)
            wrong += recv[2 * r] != 1000 * r + 10 * k ||
                     recv[2 * r + 1] != 1000 * r + 10 * k + step;
    }
    MPI_Type_free(&apart);
    return wrong;
}

int main(int argc, char **argv) {
    static const int sizes[] = {2, most_ints};
    int periodic = 1;
    int (*examined)(uint64_t *) = (int (*)(uint64_t *))dlsym(RTLD_DEFAULT, "mortar_examined");
    int (*plan)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "mortar_plan");
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    uint64_t none;
    if (!examined || !plan || examined(&none) != 0 || p > most_ranks) return 2;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Datatype vector;
    MPI_Type_vector(1, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 2 * sizeof(int), &gaps);
    MPI_Type_commit(&gaps);
    MPI_Type_free(&vector);
    MPI_Op_create(op_sum, 1, &own);
    for (int k = 0; k < 2; k++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
        MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &periodic, 0, &rings[k]);
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        ints = sizes[s];
        for (int r = 0; r < p; r++) {
            counts[r] = ints, displs[r] = r * ints, types[r] = MPI_INT;
            bytes[r] = displs[r] * (int)sizeof *send, places[r] = bytes[r];
        }
        for (int c = 0; c <= kinds; c++) {
            if (argc > 1 && plan(argv[1]) != 0) return 2;
            long most = most_examined(c < kinds ? collectives[c].call : dozen, examined);
            if (me == 0)
                printf("%s, %d ints: %ld\n", c < kinds ? collectives[c].name : "dozen", ints, most);
        }
    }
    long most = most_examined(beside_others, examined) - rounds;
    if (me == 0) printf("beside others, of %d: %ld\n", 2 * rounds, most);
    most = most_examined(hundred, examined);
    if (me == 0) printf("hundred, of %d: %ld\n", 100 * rounds, most);
    int wrong = wrong_after_remaking() + wrong_after_other_types() + wrong_after_new_ops(), all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("each of %d calls; %d wrong\n", rounds, all);
    MPI_Type_free(&pair);
    MPI_Op_free(&own);
    for (int k = 0; k < 2; k++) MPI_Comm_free(&comms[k]), MPI_Comm_free(&rings[k]);
    MPI_Finalize();
    return 0;
}
