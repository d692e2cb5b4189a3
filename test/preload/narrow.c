/* SPDX-License-Identifier: BSD-3-Clause */
/* narrow - each collective with large counts where the MPI library has none of them
 * (src/mpi/narrow.c), against the same call with ints: all blocks, in place, arguments that are not
 * significant, groups of different sizes, neighbours. And buffered sends. With a word: and counts
 * and displacements that no int holds, for a mortar that leaves all calls to the library. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { most = 16, room = 8, ints = (most + 1) * room };
static int me, p, errors;
static const MPI_Count any_count = ((MPI_Count)1 << 40) + 3; /* where it is not significant */
static int send[2 * ints], got[2 * ints], wanted[2 * ints];

/* Looked up: the mpi.h of such a library does not declare them. */
#define FIND(name, parameters)                                                                     \
    static int(*name) parameters;                                                                  \
    static void find_##name(void) { *(void **)&name = dlsym(RTLD_DEFAULT, "MPI_" #name); }
#define V const void *
#define C MPI_Count
#define T MPI_Datatype
#define N const MPI_Count *
#define A const MPI_Aint *
#define TS const MPI_Datatype *
FIND(Allgather_c, (V, C, T, void *, C, T, MPI_Comm))
FIND(Allgatherv_c, (V, C, T, void *, N, A, T, MPI_Comm))
FIND(Allreduce_c, (V, void *, C, T, MPI_Op, MPI_Comm))
FIND(Alltoall_c, (V, C, T, void *, C, T, MPI_Comm))
FIND(Alltoallv_c, (V, N, A, T, void *, N, A, T, MPI_Comm))
FIND(Alltoallw_c, (V, N, A, TS, void *, N, A, TS, MPI_Comm))
FIND(Bcast_c, (void *, C, T, int, MPI_Comm))
FIND(Gather_c, (V, C, T, void *, C, T, int, MPI_Comm))
FIND(Gatherv_c, (V, C, T, void *, N, A, T, int, MPI_Comm))
FIND(Scatter_c, (V, C, T, void *, C, T, int, MPI_Comm))
FIND(Scatterv_c, (V, N, A, T, void *, C, T, int, MPI_Comm))
FIND(Reduce_c, (V, void *, C, T, MPI_Op, int, MPI_Comm))
FIND(Reduce_scatter_c, (V, void *, N, T, MPI_Op, MPI_Comm))
FIND(Reduce_scatter_block_c, (V, void *, C, T, MPI_Op, MPI_Comm))
FIND(Scan_c, (V, void *, C, T, MPI_Op, MPI_Comm))
FIND(Exscan_c, (V, void *, C, T, MPI_Op, MPI_Comm))
FIND(Neighbor_allgather_c, (V, C, T, void *, C, T, MPI_Comm))
FIND(Neighbor_allgatherv_c, (V, C, T, void *, N, A, T, MPI_Comm))
FIND(Neighbor_alltoall_c, (V, C, T, void *, C, T, MPI_Comm))
FIND(Neighbor_alltoallv_c, (V, N, A, T, void *, N, A, T, MPI_Comm))
FIND(Neighbor_alltoallw_c, (V, N, A, TS, void *, N, A, TS, MPI_Comm))
FIND(Bsend_c, (V, C, T, int, int, MPI_Comm))
FIND(Ibsend_c, (V, C, T, int, int, MPI_Comm, MPI_Request *))

static void find(void) {
    find_Allgather_c(), find_Allgatherv_c(), find_Allreduce_c(), find_Alltoall_c();
    find_Alltoallv_c(), find_Alltoallw_c(), find_Bcast_c(), find_Gather_c(), find_Gatherv_c();
    find_Scatter_c(), find_Scatterv_c(), find_Reduce_c(), find_Reduce_scatter_c();
    find_Reduce_scatter_block_c(), find_Scan_c(), find_Exscan_c(), find_Neighbor_allgather_c();
    find_Neighbor_allgatherv_c(), find_Neighbor_alltoall_c(), find_Neighbor_alltoallv_c();
    find_Neighbor_alltoallw_c(), find_Bsend_c(), find_Ibsend_c();
}

/* Counts and displacements of a side, in both widths. Base is `room` ints behind the beginning. */
struct table {
    int counts[most], displs[most], bytes[most];
    MPI_Count large[most];
    MPI_Aint places[most], far[most];
    MPI_Datatype types[most];
};

static void fill(struct table *t, int n, int from, int step, int same) {
    for (int r = 0; r < n; r++) {
        t->counts[r] = 1 + (from + step * r + same) % 5;
        t->displs[r] = (r - 1) * room + (from + r) % 3; /* the first one is negative */
        t->bytes[r] = t->displs[r] * (int)sizeof(int);
        t->large[r] = t->counts[r], t->places[r] = t->displs[r], t->far[r] = t->bytes[r];
        t->types[r] = MPI_INT;
    }
}

static int *base(int *buffer) { return buffer + room; }

static void fresh(void) {
    for (int i = 0; i < 2 * ints; i++) send[i] = me * 10007 + i, got[i] = wanted[i] = -1 - i;
}

static void check(const char *name) {
    if (memcmp(got, wanted, sizeof got) != 0 && errors++ < 20)
        printf("rank %d: %s differs\n", me, name);
    fresh();
}

/* Both forms of a call, with `R` for the receive buffer. */
#define BOTH(name, large, narrow)                                                                  \
    do {                                                                                           \
        int *R = base(got), *S = base(send);                                                       \
        errors += (large) != MPI_SUCCESS;                                                          \
        R = base(wanted), (void)S;                                                                 \
        errors += (narrow) != MPI_SUCCESS;                                                         \
        check(name);                                                                               \
    } while (0)

static void vectors(MPI_Comm comm, int n, int k) {
    struct table s, r;
    int mine;
    MPI_Comm_rank(comm, &mine);
    fill(&s, n, 3 * mine, 2, k), fill(&r, n, 2 * mine, 3, k);
    BOTH("alltoallv", Alltoallv_c(S, s.large, s.places, MPI_INT, R, r.large, r.places, MPI_INT,
         comm),
         MPI_Alltoallv(S, s.counts, s.displs, MPI_INT, R, r.counts, r.displs, MPI_INT, comm));
    BOTH("alltoallw", Alltoallw_c(S, s.large, s.far, s.types, R, r.large, r.far, r.types, comm),
         MPI_Alltoallw(S, s.counts, s.bytes, s.types, R, r.counts, r.bytes, r.types, comm));
}

static void on_group(MPI_Comm comm, int k) {
    struct table same, t;
    int root = k % p, own = 1 + (me + k) % 5, leads = me == root;
    fill(&t, p, k, 1, 0); /* of the ranks, as all know them */
    fill(&same, p, 0, 0, k);
    own = t.counts[me];
    vectors(comm, p, k);
    BOTH("alltoallv in place", Alltoallv_c(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, R,
         same.large, same.places, MPI_INT, comm),
         MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, R, same.counts, same.displs,
         MPI_INT, comm));
    BOTH("alltoallw in place", Alltoallw_c(MPI_IN_PLACE, NULL, NULL, NULL, R, same.large,
         same.far, same.types, comm),
         MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, R, same.counts, same.bytes, same.types,
         comm));
    BOTH("alltoall", Alltoall_c(S, 2, MPI_INT, R, 2, MPI_INT, comm), MPI_Alltoall(S, 2, MPI_INT,
         R, 2, MPI_INT, comm));
    BOTH("alltoall in place", Alltoall_c(MPI_IN_PLACE, any_count, MPI_DATATYPE_NULL, R, 2,
         MPI_INT, comm),
         MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, R, 2, MPI_INT, comm));
    BOTH("allgather", Allgather_c(S, 3, MPI_INT, R, 3, MPI_INT, comm), MPI_Allgather(S, 3,
         MPI_INT, R, 3, MPI_INT, comm));
    BOTH("allgather in place", Allgather_c(MPI_IN_PLACE, any_count, MPI_DATATYPE_NULL, R, 3,
         MPI_INT, comm),
         MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, R, 3, MPI_INT, comm));
    BOTH("allgatherv", Allgatherv_c(S, own, MPI_INT, R, t.large, t.places, MPI_INT, comm),
         MPI_Allgatherv(S, own, MPI_INT, R, t.counts, t.displs, MPI_INT, comm));
    BOTH("allgatherv in place", Allgatherv_c(MPI_IN_PLACE, any_count, MPI_DATATYPE_NULL, R,
         t.large, t.places, MPI_INT, comm),
         MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, R, t.counts, t.displs, MPI_INT, comm));
    BOTH("bcast", Bcast_c(R, 5, MPI_INT, root, comm), MPI_Bcast(R, 5, MPI_INT, root, comm));
    BOTH("gather", Gather_c(S, 2, MPI_INT, R, leads ? 2 : any_count, MPI_INT, root, comm),
         MPI_Gather(S, 2, MPI_INT, R, 2, MPI_INT, root, comm));
    BOTH("gather in place", Gather_c(leads ? MPI_IN_PLACE : S, leads ? any_count : 2, MPI_INT, R,
         2, MPI_INT, root, comm),
         MPI_Gather(leads ? MPI_IN_PLACE : S, 2, MPI_INT, R, 2, MPI_INT, root, comm));
    BOTH("gatherv", Gatherv_c(S, own, MPI_INT, R, leads ? t.large : NULL, leads ? t.places : NULL,
         MPI_INT, root, comm),
         MPI_Gatherv(S, own, MPI_INT, R, leads ? t.counts : NULL, leads ? t.displs : NULL,
         MPI_INT, root, comm));
    BOTH("gatherv in place", Gatherv_c(leads ? MPI_IN_PLACE : S, leads ? any_count : own, MPI_INT,
         R, leads ? t.large : NULL, leads ? t.places : NULL, MPI_INT, root, comm),
         MPI_Gatherv(leads ? MPI_IN_PLACE : S, own, MPI_INT, R, t.counts, t.displs, MPI_INT, root,
         comm));
    BOTH("scatter", Scatter_c(S, leads ? 2 : any_count, MPI_INT, R, 2, MPI_INT, root, comm),
         MPI_Scatter(S, 2, MPI_INT, R, 2, MPI_INT, root, comm));
    BOTH("scatter in place", Scatter_c(S, leads ? 2 : any_count, MPI_INT,
         leads ? MPI_IN_PLACE : R, leads ? any_count : 2, MPI_INT, root, comm),
         MPI_Scatter(S, 2, MPI_INT, leads ? MPI_IN_PLACE : R, 2, MPI_INT, root, comm));
    BOTH("scatterv", Scatterv_c(S, leads ? t.large : NULL, leads ? t.places : NULL, MPI_INT, R,
         own, MPI_INT, root, comm),
         MPI_Scatterv(S, t.counts, t.displs, MPI_INT, R, own, MPI_INT, root, comm));
    BOTH("scatterv in place", Scatterv_c(S, leads ? t.large : NULL, leads ? t.places : NULL,
         MPI_INT, leads ? MPI_IN_PLACE : R, leads ? any_count : own, MPI_INT, root, comm),
         MPI_Scatterv(S, t.counts, t.displs, MPI_INT, leads ? MPI_IN_PLACE : R, own, MPI_INT,
         root, comm));
    BOTH("reduce", Reduce_c(S, R, 4, MPI_INT, MPI_SUM, root, comm), MPI_Reduce(S, R, 4, MPI_INT,
         MPI_SUM, root, comm));
    BOTH("allreduce", Allreduce_c(S, R, 4, MPI_INT, MPI_SUM, comm), MPI_Allreduce(S, R, 4,
         MPI_INT, MPI_SUM, comm));
    BOTH("allreduce in place", Allreduce_c(MPI_IN_PLACE, R, 4, MPI_INT, MPI_SUM, comm),
         MPI_Allreduce(MPI_IN_PLACE, R, 4, MPI_INT, MPI_SUM, comm));
    BOTH("reduce_scatter", Reduce_scatter_c(S, R, t.large, MPI_INT, MPI_SUM, comm),
         MPI_Reduce_scatter(S, R, t.counts, MPI_INT, MPI_SUM, comm));
    BOTH("reduce_scatter in place", Reduce_scatter_c(MPI_IN_PLACE, R, t.large, MPI_INT, MPI_SUM,
         comm),
         MPI_Reduce_scatter(MPI_IN_PLACE, R, t.counts, MPI_INT, MPI_SUM, comm));
    BOTH("reduce_scatter_block", Reduce_scatter_block_c(S, R, 2, MPI_INT, MPI_SUM, comm),
         MPI_Reduce_scatter_block(S, R, 2, MPI_INT, MPI_SUM, comm));
    BOTH("scan", Scan_c(S, R, 4, MPI_INT, MPI_SUM, comm), MPI_Scan(S, R, 4, MPI_INT, MPI_SUM,
         comm));
    BOTH("exscan", Exscan_c(S, R, 4, MPI_INT, MPI_SUM, comm), MPI_Exscan(S, R, 4, MPI_INT,
         MPI_SUM, comm));
}

/* Between the first rank and the others, of which the last is the root, or the first rank is. */
static void on_groups(MPI_Comm comm, int k) {
    struct table t;
    int theirs = me == 0 ? p - 1 : 1, own, root;
    if (k % 2 == 0) root = me == 0 ? p - 2 : me == p - 1 ? MPI_ROOT : MPI_PROC_NULL;
    else root = me == 0 ? MPI_ROOT : 0;
    int leads = root == MPI_ROOT, leaf = root >= 0;
    vectors(comm, theirs, k);
    fill(&t, most, k, 1, 0);
    own = t.counts[me == 0 ? 0 : me - 1]; /* by the rank in its group */
    BOTH("allgatherv of groups", Allgatherv_c(S, own, MPI_INT, R, t.large, t.places, MPI_INT, comm),
         MPI_Allgatherv(S, own, MPI_INT, R, t.counts, t.displs, MPI_INT, comm));
    BOTH("gatherv of groups", Gatherv_c(S, leaf ? own : any_count, MPI_INT, R,
         leads ? t.large : NULL, leads ? t.places : NULL, MPI_INT, root, comm),
         MPI_Gatherv(S, own, MPI_INT, R, t.counts, t.displs, MPI_INT, root, comm));
    BOTH("scatterv of groups", Scatterv_c(S, leads ? t.large : NULL, leads ? t.places : NULL,
         MPI_INT, R, leaf ? own : any_count, MPI_INT, root, comm),
         MPI_Scatterv(S, t.counts, t.displs, MPI_INT, R, own, MPI_INT, root, comm));
    for (int r = 0; r < most; r++) t.large[r] = t.counts[r] = p - 1; /* in all */
    if (me != 0)
        for (int r = 0; r < most; r++) t.large[r] = t.counts[r] = 1;
    BOTH("reduce_scatter of groups", Reduce_scatter_c(S, R, t.large, MPI_INT, MPI_SUM, comm),
         MPI_Reduce_scatter(S, R, t.counts, MPI_INT, MPI_SUM, comm));
}

static void of_neighbours(MPI_Comm ring, int k) {
    struct table s, r;
    fill(&s, 2, 0, 0, k), fill(&r, 2, 0, 0, k);
    BOTH("neighbor_allgather", Neighbor_allgather_c(S, 2, MPI_INT, R, 2, MPI_INT, ring),
         MPI_Neighbor_allgather(S, 2, MPI_INT, R, 2, MPI_INT, ring));
    BOTH("neighbor_alltoall", Neighbor_alltoall_c(S, 2, MPI_INT, R, 2, MPI_INT, ring),
         MPI_Neighbor_alltoall(S, 2, MPI_INT, R, 2, MPI_INT, ring));
    BOTH("neighbor_allgatherv", Neighbor_allgatherv_c(S, r.counts[0], MPI_INT, R, r.large,
         r.places, MPI_INT, ring),
         MPI_Neighbor_allgatherv(S, r.counts[0], MPI_INT, R, r.counts, r.displs, MPI_INT, ring));
    BOTH("neighbor_alltoallv", Neighbor_alltoallv_c(S, s.large, s.places, MPI_INT, R, r.large,
         r.places, MPI_INT, ring),
         MPI_Neighbor_alltoallv(S, s.counts, s.displs, MPI_INT, R, r.counts, r.displs, MPI_INT,
         ring));
    BOTH("neighbor_alltoallw", Neighbor_alltoallw_c(S, s.large, s.far, s.types, R, r.large, r.far,
         r.types, ring),
         MPI_Neighbor_alltoallw(S, s.counts, s.far, s.types, R, r.counts, r.far, r.types, ring));
}

static void buffered(MPI_Comm comm) {
    char own[4096], *memory = own;
    int size = sizeof own, to = (me + 1) % p, from = (me + p - 1) % p, two[2] = {me, -me};
    MPI_Request request;
    MPI_Buffer_attach(memory, size);
    errors += Bsend_c(two, 2, MPI_INT, to, 1, comm) != MPI_SUCCESS;
    errors += Ibsend_c(two, 2, MPI_INT, to, 2, comm, &request) != MPI_SUCCESS;
    for (int tag = 1; tag <= 2; tag++) {
        int come[2] = {0};
        MPI_Recv(come, 2, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
        errors += come[0] != from || come[1] != -from;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&memory, &size);
}

static void refused(const char *name, int error) {
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
    if (class != MPI_ERR_COUNT && errors++ < 20) printf("rank %d: %s: class %d\n", me, name, class);
}

/* What no int holds, on all ranks. Where mortar runs a call, it would do as it is told. */
static void too_large(MPI_Comm comm) {
    const MPI_Count large = (MPI_Count)1 << 32, small = -large;
    for (int which = 0; which < 2; which++) {
        struct table s, r;
        int last = which * (p - 1);
        MPI_Count count = which ? large : large + 1;
        fill(&s, p, 0, 0, 0), fill(&r, p, 0, 0, 0);
        s.large[last] = count;
        refused("alltoallv's send count", Alltoallv_c(send, s.large, s.places, MPI_INT, got,
         r.large, r.places, MPI_INT, comm));
        refused("alltoallv's receive count", Alltoallv_c(send, r.large, r.places, MPI_INT, got,
         s.large, s.places, MPI_INT, comm));
        fill(&s, p, 0, 0, 0), s.places[last] = (MPI_Aint)(which ? small : large);
        refused("alltoallv's send place", Alltoallv_c(send, s.large, s.places, MPI_INT, got,
         r.large, r.places, MPI_INT, comm));
        refused("alltoallv's receive place", Alltoallv_c(send, r.large, r.places, MPI_INT, got,
         s.large, s.places, MPI_INT, comm));
        refused("allgather's send count", Allgather_c(send, count, MPI_INT, got, 1, MPI_INT, comm));
        refused("allgather's receive count", Allgather_c(send, 1, MPI_INT, got, count, MPI_INT,
         comm));
        MPI_Request none;
        refused("a buffered count", Bsend_c(got, count, MPI_INT, me, 0, comm));
        refused("a buffered count", Ibsend_c(got, small, MPI_INT, me, 0, comm, &none));
        refused("bcast's count", Bcast_c(got, count, MPI_INT, 0, comm));
    }
}

int main(int argc, char **argv) {
    int all, group, periodic = 1;
    MPI_Comm comm, half, halves, ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    find();
    if (p < 3 || p > most || !Allgather_c || !Neighbor_alltoallw_c) return 2;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    group = me > 0;
    MPI_Comm_split(comm, group, 0, &half);
    MPI_Intercomm_create(half, 0, comm, !group, 0, &halves);
    MPI_Cart_create(comm, 1, &p, &periodic, 0, &ring);
    fresh();
    buffered(comm);
    for (int k = 0; k < 6; k++) on_group(comm, k), of_neighbours(ring, k);
    for (int k = 0; k < 2; k++) on_groups(halves, k);
    if (argc > 1) too_large(comm);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Comm_free(&ring), MPI_Comm_free(&halves), MPI_Comm_free(&half), MPI_Comm_free(&comm);
    MPI_Finalize();
    return all != 0;
}
