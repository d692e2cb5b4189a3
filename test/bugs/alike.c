/* SPDX-License-Identifier: BSD-3-Clause */
/* alike PATH - calls that look like earlier ones, or almost: repeated a few times, then with one
 * thing changed: the buffers, in place, the count, the root, the operation, the type, the
 * communicator. Types and operations of the program's own are made anew for each call, often under
 * the handle of the one before; on some ranks only, so that some examine a call that others know.
 * Every result is checked. The report, written to PATH, must show all calls. */
#include "repeat.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { steps = 6000, most_ranks = 16, room = 4096 };
enum { BCAST, GATHER, SCATTER, REDUCE, ALLREDUCE, ALLTOALL, ALLGATHER, SCAN, BLOCKS, KINDS };
enum { INTS, FLOATS, PAIRS, TRIPLES, MIXED, TYPES };
enum { SUM, MAX, OWN_SUM, OWN_MAX, OPS };

/* One call; the same on all ranks. */
struct look {
    int kind, count, root, type, op, in_place, place, fresh_comm;
};

static int errors, calls[KINDS], p, me;
static unsigned long seed = 1;
static MPI_Comm comm;

static int chance(int of) { return roll(&seed, of); }

/* ---- what is sent, and what must come ---- */

/* Number i of what rank r sends in step t, small enough to be exact as a float. */
static int value(int t, int r, int i) { return t % 100 * 100 + r * 20 + i % 20; }

static int combined(const struct look *look, int t, int ranks, int i) {
    int result = value(t, 0, i);
    for (int r = 1; r < ranks; r++) {
        int other = value(t, r, i);
        if (look->op == SUM || look->op == OWN_SUM) result += other;
        else if (other > result) result = other;
    }
    return result;
}

static void put(const struct look *look, void *buffer, int i, int number) {
    if (look->type == FLOATS) ((float *)buffer)[i] = (float)number;
    else ((int *)buffer)[i] = number;
}

static int get(const struct look *look, const void *buffer, int i) {
    return look->type == FLOATS ? (int)((const float *)buffer)[i] : ((const int *)buffer)[i];
}

/* ---- types and operations ---- */

static int is_reduction(const struct look *look) {
    return look->kind == REDUCE || look->kind == ALLREDUCE || look->kind == SCAN ||
           look->kind == BLOCKS;
}

/* Ints or floats in an element. */
static int width(const struct look *look) {
    return look->type == PAIRS ? 2 : look->type == TRIPLES ? 3 : 1;
}

static MPI_Datatype type_of(const struct look *look) {
    MPI_Datatype type;
    if (look->type == FLOATS) return MPI_FLOAT;
    if (look->type == INTS || (look->type == MIXED && me % 2 == 0)) return MPI_INT;
    MPI_Type_contiguous(width(look), MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void own_sum(void *in, void *inout, int *count, MPI_Datatype *type) {
    for (int i = 0; i < *count && *type == MPI_INT; i++) ((int *)inout)[i] += ((int *)in)[i];
    for (int i = 0; i < *count && *type != MPI_INT; i++) ((float *)inout)[i] += ((float *)in)[i];
}

static void own_max(void *in, void *inout, int *count, MPI_Datatype *type) {
    for (int i = 0; i < *count; i++) {
        int *a = (int *)in + i, *b = (int *)inout + i;
        float *x = (float *)in + i, *y = (float *)inout + i;
        if (*type == MPI_INT ? *a > *b : *x > *y) *b = *a;
    }
}

static MPI_Op op_of(const struct look *look) {
    MPI_Op op;
    if (look->op == SUM) return MPI_SUM;
    if (look->op == MAX) return MPI_MAX;
    MPI_Op_create(look->op == OWN_SUM ? own_sum : own_max, 1, &op);
    return op;
}

/* ---- a call ---- */

static int make(const struct look *look, void *send, void *recv, int n, MPI_Datatype type) {
    int root = look->root;
    MPI_Op op = is_reduction(look) ? op_of(look) : MPI_OP_NULL;
    int error = MPI_SUCCESS;
    switch (look->kind) {
    case BCAST: error = MPI_Bcast(me == root ? send : recv, n, type, root, comm); break;
    case GATHER: error = MPI_Gather(send, n, type, recv, n, type, root, comm); break;
    case SCATTER: error = MPI_Scatter(send, n, type, recv, n, type, root, comm); break;
    case REDUCE: error = MPI_Reduce(send, recv, n, type, op, root, comm); break;
    case ALLREDUCE: error = MPI_Allreduce(send, recv, n, type, op, comm); break;
    case ALLTOALL: error = MPI_Alltoall(send, n, type, recv, n, type, comm); break;
    case ALLGATHER: error = MPI_Allgather(send, n, type, recv, n, type, comm); break;
    case SCAN: error = MPI_Scan(send, recv, n, type, op, comm); break;
    case BLOCKS: error = MPI_Reduce_scatter_block(send, recv, n, type, op, comm); break;
    }
    if (op != MPI_OP_NULL && look->op >= OWN_SUM) MPI_Op_free(&op);
    return error;
}

static int sends_blocks(const struct look *look) {
    return look->kind == ALLTOALL || look->kind == BLOCKS ||
           (look->kind == SCATTER && me == look->root);
}

static int wanted(const struct look *look, int t, int n, int i) {
    switch (look->kind) {
    case BCAST: return value(t, look->root, i);
    case SCATTER: return value(t, look->root, me * n + i);
    case GATHER:
    case ALLGATHER: return value(t, i / n, i % n);
    case ALLTOALL: return value(t, i / n, me * n + i % n);
    case SCAN: return combined(look, t, me + 1, i);
    case BLOCKS: return combined(look, t, p, me * n + i);
    default: return combined(look, t, p, i);
    }
}

/* How many numbers this rank receives. */
static int received(const struct look *look, int n) {
    int root = me == look->root;
    if (look->kind == BCAST) return root ? 0 : n;
    if (look->kind == GATHER) return root ? p * n : 0;
    if (look->kind == REDUCE) return root ? n : 0;
    return look->kind == ALLGATHER || look->kind == ALLTOALL ? p * n : n;
}

static void step(const struct look *look, int t) {
    static _Alignas(64) char first[2][room * most_ranks], *memory[2];
    int root = me == look->root, n = look->count * width(look);
    for (int b = 0; b < 2 && !memory[b]; b++) memory[b] = malloc(room * most_ranks);
    int place = (look->place + 5 * me) % 16; /* ranks decide for themselves where buffers lie */
    char *send = (place & 1 ? first[0] : memory[0]) + (place >> 2) * 4;
    char *recv = (place & 2 ? first[1] : memory[1]) + (place >> 2) * 8;
    memset(recv, -1, room);
    for (int i = 0; i < (sends_blocks(look) ? p * n : n); i++) put(look, send, i, value(t, me, i));
    void *from = send, *to = recv;
    int in_place = look->in_place &&
                   (look->kind == ALLREDUCE || look->kind == SCAN || look->kind == ALLGATHER ||
                    (look->kind == REDUCE && root) || (look->kind == GATHER && root));
    if (in_place) {
        char *mine = look->kind == GATHER || look->kind == ALLGATHER ? recv + me * n * 4 : recv;
        memcpy(mine, send, (size_t)n * 4);
        from = MPI_IN_PLACE;
    }
    if (look->in_place && look->kind == SCATTER && root) to = MPI_IN_PLACE;
    MPI_Datatype type = type_of(look);
    errors += make(look, from, to, look->count, type) != MPI_SUCCESS;
    calls[look->kind]++;
    if (type != MPI_INT && type != MPI_FLOAT) MPI_Type_free(&type);
    for (int i = 0; i < received(look, n) && to == recv; i++)
        errors += get(look, recv, i) != wanted(look, t, n, i);
}

/* ---- which calls ---- */

static void change(struct look *look) {
    const int counts[] = {1, 2, 3, 7, 16, 40, 100};
    switch (chance(9)) {
    case 0: look->kind = chance(KINDS); break;
    case 1:
    case 2: look->count = counts[chance(7)]; break;
    case 3: look->root = chance(p); break;
    case 4: look->op = chance(OPS); break;
    case 5:
    case 6: look->type = chance(TYPES); break;
    case 7: look->in_place = chance(2); break;
    case 8: look->fresh_comm = chance(3) == 0; break;
    }
    if (is_reduction(look) && look->type > FLOATS) look->type = INTS;
}

/* The same ranks, for an odd step in the reverse order. The handle is mostly that of the one
 * before. */
static void enter(int fresh, int t) {
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (!fresh) return;
    MPI_Comm_split(MPI_COMM_WORLD, 0, t % 2 ? -me : me, &comm);
    MPI_Comm_rank(comm, &me);
}

int main(int argc, char **argv) {
    struct look now = {.count = 1}, before;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    comm = MPI_COMM_WORLD;
    enter(0, 0);
    for (int t = 0; t < steps; t++) {
        before = now;
        now.place = chance(16); /* buffers change all the time, and decide nothing */
        if (chance(5) == 0) change(&now);
        bool other = now.fresh_comm != before.fresh_comm;
        if (other || (now.fresh_comm && chance(20) == 0)) enter(now.fresh_comm, t);
        step(&now, t);
        if (chance(40) == 0) step(&before, t), now.root = before.root;
    }
    enter(0, 0);
    return repeat_end(argc > 1 ? argv[1] : NULL, errors, calls, KINDS);
}
