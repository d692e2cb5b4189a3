/* SPDX-License-Identifier: BSD-3-Clause */
/* arguments - every collective with every kind of wrong argument: what class comes back, and how
 * often is the error handler called? usage: arguments all|lone SECONDS ,[ROW,ROW,...]   leaves out
 * these rows; a row that takes longer than SECONDS ends the program
 *        arguments list                               names the rows; not under a launcher
 *
 * all: all ranks make the same mistake. Prints "ROW what: class/calls class/calls ...", one pair
 * for each rank.
 * lone: rank 0 makes it alone, and its error handler leaves by longjmp; then all ranks go on with
 * the same communicator. What the MPI library finds before it sends anything is no call at all to
 * the others. */
#include <mpi.h>

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_ranks = 8, room = 1 << 16 };

/* ---- one call ---- */

struct arguments {
    void *send, *recv;
    int send_count, recv_count; /* of each block */
    /* Added to the count of the last block, where there are counts; else to all. */
    int bad_send, bad_recv;
    MPI_Datatype send_type, recv_type;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    bool one_list;    /* of counts, places and types, for both sides */
    const void *gone; /* the list that is NULL instead */
};

static int me, p;
static int send_counts[most_ranks], recv_counts[most_ranks], send_displs[most_ranks],
    recv_displs[most_ranks];
static MPI_Aint send_places[most_ranks], recv_places[most_ranks];
static MPI_Datatype send_types[most_ranks], recv_types[most_ranks];

static void fill(const struct arguments *a, int blocks) {
    MPI_Aint lb, sent = 4, received = 4;
    if (a->send_type != MPI_DATATYPE_NULL) PMPI_Type_get_extent(a->send_type, &lb, &sent);
    if (a->recv_type != MPI_DATATYPE_NULL) PMPI_Type_get_extent(a->recv_type, &lb, &received);
    for (int b = 0; b < blocks; b++) {
        bool last = b == blocks - 1;
        send_counts[b] = a->send_count + (last ? a->bad_send : 0);
        recv_counts[b] = a->recv_count + (last ? a->bad_recv : 0);
        send_displs[b] = b * abs(a->send_count);
        recv_displs[b] = b * abs(a->recv_count);
        send_places[b] = send_displs[b] * sent;
        recv_places[b] = recv_displs[b] * received;
        send_types[b] = a->send_type;
        recv_types[b] = a->recv_type;
    }
}

static void to_int(MPI_Aint *places, int *displs, int blocks) {
    for (int b = 0; b < blocks; b++) displs[b] = (int)places[b];
}

#define CALL(name, ...)                                                                            \
    static int do_##name(const struct arguments *a) { return MPI_##name(__VA_ARGS__, a->comm); }
#define SENT a->send_count + a->bad_send
#define RECEIVED a->recv_count + a->bad_recv
#define UNLESS_GONE(list) a->gone == (list) ? NULL : (list)
#define SEND_COUNTS UNLESS_GONE(send_counts)
#define SEND_DISPLS UNLESS_GONE(send_displs)
#define RECV_COUNTS UNLESS_GONE(recv_counts)
#define RECV_DISPLS UNLESS_GONE(recv_displs)
#define THEIR_COUNTS a->one_list ? send_counts : RECV_COUNTS
CALL(Alltoall, a->send, SENT, a->send_type, a->recv, RECEIVED, a->recv_type)
CALL(Allgather, a->send, SENT, a->send_type, a->recv, RECEIVED, a->recv_type)
CALL(Alltoallv, a->send, SEND_COUNTS, SEND_DISPLS, a->send_type, a->recv, THEIR_COUNTS, RECV_DISPLS,
     a->recv_type)
CALL(Alltoallw, a->send, SEND_COUNTS, SEND_DISPLS, send_types, a->recv, THEIR_COUNTS, RECV_DISPLS,
     a->one_list ? send_types : recv_types)
CALL(Allgatherv, a->send, SENT, a->send_type, a->recv, RECV_COUNTS, RECV_DISPLS, a->recv_type)
CALL(Bcast, me == a->root ? a->send : a->recv, me == a->root ? SENT : RECEIVED, a->send_type,
     a->root)
CALL(Gather, a->send, SENT, a->send_type, a->recv, RECEIVED, a->recv_type, a->root)
CALL(Gatherv, a->send, SENT, a->send_type, a->recv, RECV_COUNTS, RECV_DISPLS, a->recv_type, a->root)
CALL(Scatter, a->send, SENT, a->send_type, a->recv, RECEIVED, a->recv_type, a->root)
CALL(Scatterv, a->send, SEND_COUNTS, SEND_DISPLS, a->send_type, a->recv, RECEIVED, a->recv_type,
     a->root)
CALL(Reduce, a->send, a->recv, SENT, a->send_type, a->op, a->root)
CALL(Allreduce, a->send, a->recv, SENT, a->send_type, a->op)
CALL(Reduce_scatter, a->send, a->recv, SEND_COUNTS, a->send_type, a->op)
CALL(Reduce_scatter_block, a->send, a->recv, SENT, a->send_type, a->op)
CALL(Scan, a->send, a->recv, SENT, a->send_type, a->op)
CALL(Exscan, a->send, a->recv, SENT, a->send_type, a->op)
CALL(Neighbor_alltoall, a->send, SENT, a->send_type, a->recv, RECEIVED, a->recv_type)
CALL(Neighbor_alltoallv, a->send, SEND_COUNTS, SEND_DISPLS, a->send_type, a->recv, RECV_COUNTS,
     RECV_DISPLS, a->recv_type)
CALL(Neighbor_alltoallw, a->send, SEND_COUNTS, a->gone == send_displs ? NULL : send_places,
     send_types, a->recv, RECV_COUNTS, a->gone == recv_displs ? NULL : recv_places, recv_types)
CALL(Neighbor_allgather, a->send, SENT, a->send_type, a->recv, RECEIVED, a->recv_type)
CALL(Neighbor_allgatherv, a->send, SENT, a->send_type, a->recv, RECV_COUNTS, RECV_DISPLS,
     a->recv_type)
static int do_Barrier(const struct arguments *a) { return MPI_Barrier(a->comm); }

enum {
    ROOT = 1,
    OP = 2,
    TWO = 4,
    NEIGHBOR = 8,
    DATA = 16,
    BYTES = 32,
    COLLECTS = 64,
    HANDS_OUT = 128,
    COUNTS = 256,   /* lists of what is sent: counts */
    SENDS = 512,    /* displacements */
    RECEIVES = 1024 /* counts and displacements of what is received */
};
static const struct collective {
    const char *name;
    int (*call)(const struct arguments *);
    int has;
} collectives[] = {
    {"barrier", do_Barrier, 0},
    {"alltoall", do_Alltoall, DATA | TWO},
    {"allgather", do_Allgather, DATA | TWO | COLLECTS},
    {"alltoallv", do_Alltoallv, DATA | TWO | COUNTS | SENDS | RECEIVES},
    {"alltoallw", do_Alltoallw, DATA | TWO | BYTES | COUNTS | SENDS | RECEIVES},
    {"allgatherv", do_Allgatherv, DATA | TWO | COLLECTS | RECEIVES},
    {"bcast", do_Bcast, DATA | ROOT},
    {"gather", do_Gather, DATA | TWO | ROOT | COLLECTS},
    {"gatherv", do_Gatherv, DATA | TWO | ROOT | COLLECTS | RECEIVES},
    {"scatter", do_Scatter, DATA | TWO | ROOT | HANDS_OUT},
    {"scatterv", do_Scatterv, DATA | TWO | ROOT | HANDS_OUT | COUNTS | SENDS},
    {"reduce", do_Reduce, DATA | OP | ROOT},
    {"allreduce", do_Allreduce, DATA | OP},
    {"reduce_scatter", do_Reduce_scatter, DATA | OP | COUNTS},
    {"reduce_scatter_block", do_Reduce_scatter_block, DATA | OP},
    {"scan", do_Scan, DATA | OP},
    {"exscan", do_Exscan, DATA | OP},
    {"neighbor_alltoall", do_Neighbor_alltoall, DATA | TWO | NEIGHBOR},
    {"neighbor_alltoallv", do_Neighbor_alltoallv,
     DATA | TWO | NEIGHBOR | COUNTS | SENDS | RECEIVES},
    {"neighbor_alltoallw", do_Neighbor_alltoallw,
     DATA | TWO | NEIGHBOR | COUNTS | SENDS | RECEIVES},
    {"neighbor_allgather", do_Neighbor_allgather, DATA | TWO | NEIGHBOR},
    {"neighbor_allgatherv", do_Neighbor_allgatherv, DATA | TWO | NEIGHBOR | RECEIVES},
};

/* ---- the mistakes ---- */

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static char buffers[2][room * most_ranks];
static MPI_Datatype uncommitted, spread, pair;
static MPI_Op user;
static MPI_Comm plain; /* without a topology */

static void types(struct arguments *a, MPI_Datatype type) { a->send_type = a->recv_type = type; }
static void counts(struct arguments *a, int count) { a->send_count = a->recv_count = count; }

static void fine(struct arguments *a) { (void)a; }
static void no_send_type(struct arguments *a) { a->send_type = MPI_DATATYPE_NULL; }
static void no_recv_type(struct arguments *a) { a->recv_type = MPI_DATATYPE_NULL; }
/* Handles of another kind. */
static void other_type(struct arguments *a) { types(a, (MPI_Datatype)(intptr_t)MPI_COMM_WORLD); }
static void other_op(struct arguments *a) { a->op = (MPI_Op)(intptr_t)MPI_COMM_WORLD; }
static void other_comm(struct arguments *a) { a->comm = (MPI_Comm)(intptr_t)MPI_SUM; }
static void empty_no_type(struct arguments *a) { types(a, MPI_DATATYPE_NULL), counts(a, 0); }
static void uncommitted_send(struct arguments *a) { a->send_type = uncommitted; }
static void uncommitted_recv(struct arguments *a) { a->recv_type = uncommitted; }
static void empty_uncommitted(struct arguments *a) { types(a, uncommitted), counts(a, 0); }
static void negative_send(struct arguments *a) { a->bad_send = -a->send_count - 1; }
static void negative_recv(struct arguments *a) { a->bad_recv = -a->recv_count - 1; }
static void high_root(struct arguments *a) { a->root = p; }
static void low_root(struct arguments *a) { a->root = -9; }
static void no_comm(struct arguments *a) { a->comm = MPI_COMM_NULL; }
static void no_topology(struct arguments *a) { a->comm = plain; }
static void no_op(struct arguments *a) { a->op = MPI_OP_NULL; }
static void replace(struct arguments *a) { a->op = MPI_REPLACE; }
static void wrong_op(struct arguments *a) { types(a, MPI_FLOAT), a->op = MPI_BAND; }
static void pair_op(struct arguments *a) { a->op = MPI_MAXLOC; }
static void uncommitted_op(struct arguments *a) { types(a, uncommitted), a->op = user; }
static void typeless_op(struct arguments *a) { types(a, MPI_DATATYPE_NULL), a->op = user; }
static void derived_op(struct arguments *a) { types(a, pair), counts(a, 8); }
static void aliased(struct arguments *a) { a->send = a->recv; }
static void aliased_lists(struct arguments *a) { aliased(a), a->one_list = true; }
static void aliased_empty(struct arguments *a) { aliased_lists(a), counts(a, 0); }
static void aliased_one(struct arguments *a) { aliased(a), counts(a, 1); }
static void own_block(struct arguments *a) {
    a->send = (char *)a->recv + me * a->send_count * (int)sizeof(int);
}
static void own_block_received(struct arguments *a) {
    a->recv = (char *)a->send + me * a->send_count * (int)sizeof(int);
}
/* Of a type with a gap: MPICH looks for it where sizes of the type lead to, not extents. */
static void own_spread(struct arguments *a) {
    types(a, spread);
    a->send = (char *)a->recv + me * a->send_count * 3 * (int)sizeof(int);
}
static void send_in_place(struct arguments *a) { a->send = MPI_IN_PLACE; }
static void recv_in_place(struct arguments *a) { a->recv = MPI_IN_PLACE; }
static void both_in_place(struct arguments *a) { a->send = a->recv = MPI_IN_PLACE; }
static void no_send(struct arguments *a) { a->send = NULL; }
static void no_recv(struct arguments *a) { a->recv = NULL; }
static void no_send_counts(struct arguments *a) { a->gone = send_counts; }
static void no_send_displs(struct arguments *a) { a->gone = send_displs; }
static void no_recv_counts(struct arguments *a) { a->gone = recv_counts; }
static void no_recv_displs(struct arguments *a) { a->gone = recv_displs; }
static void empty_no_send_displs(struct arguments *a) { no_send_displs(a), counts(a, 0); }
static void empty_no_recv_displs(struct arguments *a) { no_recv_displs(a), counts(a, 0); }
static void recv_less(struct arguments *a) { a->recv_count = 8; }
static void last_less(struct arguments *a) { a->bad_recv = -1; }
static void spread_less(struct arguments *a) {
    a->send_type = a->recv_type = spread, a->send_count = 7, a->recv_count = 4;
}
static void long_less(struct arguments *a) {
    a->send_count = room / 4 - 1, a->recv_count = room / 8;
}

static const struct mistake {
    const char *name;
    void (*make)(struct arguments *);
    int needs, never;
    /* Sides or ranks do not fit together: no library finds that before it has sent something. */
    bool unequal;
} mistakes[] = {
    {"nothing wrong", fine, 0, 0, false},
    {"no send type", no_send_type, DATA, 0, false},
    {"no receive type", no_recv_type, TWO, 0, false},
    {"no type's handle", other_type, DATA, 0, false},
    {"no elements of no type", empty_no_type, DATA, 0, false},
    {"uncommitted send type", uncommitted_send, DATA, 0, false},
    {"uncommitted receive type", uncommitted_recv, TWO, 0, false},
    {"no elements of an uncommitted type", empty_uncommitted, DATA, 0, false},
    {"negative send count", negative_send, DATA, 0, false},
    {"negative receive count", negative_recv, TWO, 0, false},
    {"root p", high_root, ROOT, 0, false},
    {"root -9", low_root, ROOT, 0, false},
    {"no communicator", no_comm, 0, 0, false},
    {"no communicator's handle", other_comm, 0, 0, false},
    {"no topology", no_topology, NEIGHBOR, 0, false},
    {"no operation", no_op, OP, 0, false},
    {"no operation's handle", other_op, OP, 0, false},
    {"MPI_REPLACE", replace, OP, 0, false},
    {"MPI_BAND of floats", wrong_op, OP, 0, false},
    {"MPI_MAXLOC of ints", pair_op, OP, 0, false},
    {"MPI_SUM of a derived type", derived_op, OP, 0, false},
    {"own operation, uncommitted", uncommitted_op, OP, 0, false},
    {"own operation, no type", typeless_op, OP, 0, false},
    {"one buffer for both", aliased, DATA, 0, false},
    {"one buffer and lists for both", aliased_lists, TWO, 0, false},
    {"no elements, one buffer and lists for both", aliased_empty, TWO, 0, false},
    {"one element, one buffer for both", aliased_one, OP, 0, false},
    {"own spread block for both", own_spread, COLLECTS | ROOT, 0, false},
    {"own block for both", own_block, COLLECTS, 0, false},
    {"own block received", own_block_received, HANDS_OUT, 0, false},
    {"send in place", send_in_place, DATA, 0, false},
    {"receive in place", recv_in_place, DATA, 0, false},
    {"both in place", both_in_place, DATA, 0, false},
    {"no send buffer", no_send, DATA, 0, false},
    {"no receive buffer", no_recv, DATA, 0, false},
    {"no send counts", no_send_counts, COUNTS, 0, false},
    {"no send displacements", no_send_displs, SENDS, 0, false},
    {"no receive counts", no_recv_counts, RECEIVES, 0, false},
    {"no receive displacements", no_recv_displs, RECEIVES, 0, false},
    {"no elements, no send displacements", empty_no_send_displs, SENDS, 0, false},
    {"no elements, no receive displacements", empty_no_recv_displs, RECEIVES, 0, false},
    {"room for half", recv_less, DATA, OP, true},
    {"room for one less", last_less, DATA, OP, true},
    {"spread, room for half", spread_less, DATA, OP, true},
    {"long, room for half", long_less, DATA, OP, true},
};

/* ---- one row ---- */

static bool lone;
static unsigned seconds;
static const char *out; /* ",ROW,ROW," */
static MPI_Errhandler own;
static MPI_Comm words; /* for what is said about a row */
static int handled;
static jmp_buf back;
static bool jumps;

static void handler(MPI_Comm *comm, int *error, ...) {
    (void)comm, (void)error;
    handled++;
    if (jumps) longjmp(back, 1);
}

static int make_call(const struct collective *c, const struct mistake *m, MPI_Comm comm) {
    struct arguments a = {.send = buffers[0],
                          .recv = buffers[1],
                          /* 15 and 8 ints are of one size class: ranks that disagree take the same
                           * way. */
                          .send_count = 15,
                          .recv_count = 15,
                          .send_type = MPI_INT,
                          .recv_type = MPI_INT,
                          .op = MPI_SUM,
                          .root = p - 1,
                          .comm = comm};
    m->make(&a);
    fill(&a, c->has & NEIGHBOR ? 2 : p);
    if (c->has & BYTES) to_int(send_places, send_displs, p), to_int(recv_places, recv_displs, p);
    return c->call(&a);
}

static int class_of(int error) {
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    return class;
}

static MPI_Comm fresh(const struct collective *c) {
    MPI_Comm comm;
    int periodic = 1;
    if (c->has & NEIGHBOR) MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &periodic, 0, &comm);
    else MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm);
    return comm;
}

/* What rank 0 prints comes by messages: collectives are what is tested. */
static void report(int row, int class) {
    int mine[2] = {class, handled}, theirs[2];
    if (me > 0) MPI_Send(mine, 2, MPI_INT, 0, 0, words);
    if (me > 0) return;
    printf("%d: %d/%d", row, mine[0], mine[1]);
    for (int r = 1; r < p; r++) {
        MPI_Recv(theirs, 2, MPI_INT, r, 0, words, MPI_STATUS_IGNORE);
        printf(" %d/%d", theirs[0], theirs[1]);
    }
    printf("\n");
    fflush(stdout);
}

static void all_wrong(int row, const struct collective *c, const struct mistake *m) {
    MPI_Comm comm = fresh(c);
    /* So that only the mistake is new. */
    for (int i = 0; i < 2; i++) make_call(c, &mistakes[0], comm);
    MPI_Comm_set_errhandler(comm, own);
    handled = 0;
    int class = class_of(make_call(c, m, comm));
    report(row, class);
    MPI_Comm_free(&comm);
}

/* Only rank 0 makes the call, unless it is right. */
static void one_wrong(int row, const struct collective *c, const struct mistake *m) {
    static volatile int sum;
    MPI_Comm comm = fresh(c);
    MPI_Comm_set_errhandler(comm, own);
    handled = 0;
    jumps = true;
    if ((me == 0 || m->make == fine) && setjmp(back) == 0) make_call(c, m, comm);
    jumps = false;
    for (int i = 0; i < 3; i++) {
        int one = 1, got = 0;
        MPI_Allreduce(&one, &got, 1, MPI_INT, MPI_SUM, comm);
        sum = got;
        MPI_Barrier(comm);
    }
    report(row, sum);
    MPI_Comm_free(&comm);
}

static bool left_out(int row) {
    char word[16];
    snprintf(word, sizeof word, ",%d,", row);
    return strstr(out, word);
}

/* Calls `visit` for every row that is possible. */
static int visit_all(void (*visit)(int row, const struct collective *c, const struct mistake *m)) {
    int row = 0;
    for (size_t c = 0; c < sizeof collectives / sizeof *collectives; c++)
        for (size_t m = 0; m < sizeof mistakes / sizeof *mistakes; m++)
            if ((collectives[c].has & mistakes[m].needs) == mistakes[m].needs &&
                !(collectives[c].has & mistakes[m].never))
                visit(++row, &collectives[c], &mistakes[m]);
    return row;
}

static void name(int row, const struct collective *c, const struct mistake *m) {
    printf("%d %s, %s%s\n", row, c->name, m->name, m->unequal ? " (unequal)" : "");
}

static void run(int row, const struct collective *c, const struct mistake *m) {
    if (left_out(row) || (lone && m->unequal)) return;
    if (me == 0) printf("begin %d\n", row), fflush(stdout);
    alarm(seconds);
    (lone ? one_wrong : all_wrong)(row, c, m);
    alarm(0);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "list") == 0) return visit_all(name) == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (argc < 4 || p > most_ranks) return 2;
    lone = strcmp(argv[1], "lone") == 0;
    seconds = (unsigned)atoi(argv[2]);
    out = argv[3];
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_dup(MPI_COMM_WORLD, &words);
    MPI_Comm_dup(MPI_COMM_WORLD, &plain);
    MPI_Comm_set_errhandler(plain, own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own); /* for what belongs to no communicator */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, own);
    MPI_Op_create(add, 1, &user);
    MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    int rows = visit_all(run);
    if (me == 0)
        printf("%d ranks, %d rows, class %d for a block that is too long\n", p, rows,
               MPI_ERR_TRUNCATE);
    MPI_Op_free(&user);
    MPI_Type_free(&uncommitted);
    MPI_Type_free(&spread);
    MPI_Type_free(&pair);
    MPI_Comm_free(&words);
    MPI_Comm_free(&plain);
    MPI_Errhandler_free(&own);
    MPI_Finalize();
    return 0;
}
