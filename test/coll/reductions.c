/* SPDX-License-Identifier: BSD-3-Clause */
/* reductions - operations and the types that they go with; operands with which arithmetic is exact,
 * so that results do not depend on how it is bracketed; and what must come out: all operands, in
 * rank order, by MPI_Reduce_local. */
#include "driver.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an element is made of. */
struct field {
    enum { NONE, BITS, TRUTH, FLOAT, DOUBLE, LONG_DOUBLE, SMALL } kind;
    int offset, bytes;
};
struct combination {
    char name[64];
    MPI_Datatype type;
    MPI_Op op;
    struct field fields[2];
    bool gaps;    /* between the data */
    bool product; /* values whose products stay exact */
    /* Values whose sums stay small: Open MPI 4.1 adds short integers with saturation, some of
     * them. */
    bool narrow;
};
enum { most_combinations = 256, user_types = 3 };
static struct combination combinations[most_combinations];
static int combination_count, user_first;

static void add(const char *type_name, MPI_Datatype type, const char *op_name, MPI_Op op,
                struct field a, struct field b) {
    if (type == MPI_DATATYPE_NULL) return;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    struct combination *row = &combinations[combination_count++];
    *row =
        (struct combination){.type = type, .op = op, .fields = {a, b}, .product = op == MPI_PROD};
    row->narrow = (op == MPI_SUM || op == MPI_PROD) && a.kind == BITS && a.bytes <= 2;
    row->gaps = a.bytes + b.bytes != extent || lb != 0;
    snprintf(row->name, sizeof row->name, "%s %s", type_name, op_name);
}

/* ---- the program's own operations ---- */

/* x -> a x + b, modulo 2^32; the operation is to do one and then the other. Three types: tight,
 * with gaps, with a lower bound. */
static struct {
    MPI_Datatype type;
    int a, b, extent;
} pairs[user_types] = {
    {MPI_DATATYPE_NULL, 0, 4, 8}, {MPI_DATATYPE_NULL, 4, 12, 24}, {MPI_DATATYPE_NULL, -8, 0, 20}};
static MPI_Op compose_op, add_op, first_op;

static int which_pair(MPI_Datatype type) {
    for (int i = 0; i < user_types; i++)
        if (pairs[i].type == type) return i;
    fprintf(stderr,
            "FAILED: an operation is called with a type that the program did not give: %s\n",
            trial_text);
    abort();
}

static uint32_t get(const char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static void set(char *at, uint32_t value) { memcpy(at, &value, sizeof value); }

static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
    int t = which_pair(*type);
    for (int i = 0; i < *count; i++) {
        const char *x = (const char *)in + i * pairs[t].extent;
        char *y = (char *)inout + i * pairs[t].extent;
        uint32_t a = get(y + pairs[t].a), b = get(y + pairs[t].b);
        set(y + pairs[t].b, a * get(x + pairs[t].b) + b);
        set(y + pairs[t].a, a * get(x + pairs[t].a));
    }
}

static void add_up(void *in, void *inout, int *count, MPI_Datatype *type) {
    int t = which_pair(*type);
    for (int i = 0; i < *count; i++) {
        const char *x = (const char *)in + i * pairs[t].extent;
        char *y = (char *)inout + i * pairs[t].extent;
        set(y + pairs[t].a, get(y + pairs[t].a) + get(x + pairs[t].a));
        set(y + pairs[t].b, get(y + pairs[t].b) + get(x + pairs[t].b));
    }
}

/* The first of the two that is not 0: associative, and not commutative. */
static void first(void *in, void *inout, int *count, MPI_Datatype *type) {
    const uint32_t *x = in;
    uint32_t *y = inout;
    (void)type;
    for (int i = 0; i < *count; i++)
        if (x[i]) y[i] = x[i];
}

static void make_user(void) {
    MPI_Op_create(compose, 0, &compose_op);
    MPI_Op_create(add_up, 1, &add_op);
    MPI_Op_create(first, 0, &first_op);
    static const char *const names[user_types] = {"pair", "pair with gaps", "pair from below"};
    user_first = combination_count;
    for (int i = 0; i < user_types; i++) {
        int ones[2] = {1, 1};
        MPI_Aint places_of[2] = {pairs[i].a, pairs[i].b};
        MPI_Datatype inner;
        MPI_Type_create_hindexed(2, ones, places_of, MPI_UINT32_T, &inner);
        MPI_Type_create_resized(inner, pairs[i].a < 0 ? pairs[i].a : 0, pairs[i].extent,
                                &pairs[i].type);
        MPI_Type_free(&inner);
        MPI_Type_commit(&pairs[i].type);
        struct field a = {BITS, pairs[i].a, 4}, b = {BITS, pairs[i].b, 4};
        add(names[i], pairs[i].type, "composed", compose_op, a, b);
        add(names[i], pairs[i].type, "added", add_op, a, b);
    }
    add("MPI_UINT32_T", MPI_UINT32_T, "first", first_op, (struct field){BITS, 0, 4},
        (struct field){0});
}

/* ---- the predefined ones ---- */

struct named_type {
    const char *name;
    MPI_Datatype type;
    int bytes, second; /* second: where the index of a pair lies */
};
struct named_op {
    const char *name;
    MPI_Op op;
};

static void make_predefined(void) {
    const struct named_op ops[] = {{"sum", MPI_SUM},   {"prod", MPI_PROD}, {"max", MPI_MAX},
                                   {"min", MPI_MIN},   {"land", MPI_LAND}, {"lor", MPI_LOR},
                                   {"lxor", MPI_LXOR}, {"band", MPI_BAND}, {"bor", MPI_BOR},
                                   {"bxor", MPI_BXOR}};
    const struct named_type integers[] = {{"MPI_INT8_T", MPI_INT8_T, 1, 0},
                                          {"MPI_UINT8_T", MPI_UINT8_T, 1, 0},
                                          {"MPI_INT16_T", MPI_INT16_T, 2, 0},
                                          {"MPI_UINT16_T", MPI_UINT16_T, 2, 0},
                                          {"MPI_INT", MPI_INT, 4, 0},
                                          {"MPI_UNSIGNED", MPI_UNSIGNED, 4, 0},
                                          {"MPI_INT64_T", MPI_INT64_T, 8, 0},
                                          {"MPI_UINT64_T", MPI_UINT64_T, 8, 0},
                                          {"MPI_LONG", MPI_LONG, sizeof(long), 0},
                                          {"MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, 1, 0}};
    const struct field none = {0};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            add(integers[i].name, integers[i].type, ops[o].name, ops[o].op,
                (struct field){BITS, 0, integers[i].bytes}, none);
    for (size_t o = 4; o < 7; o++)
        add("MPI_C_BOOL", MPI_C_BOOL, ops[o].name, ops[o].op, (struct field){TRUTH, 0, 1}, none);
    for (size_t o = 7; o < 10; o++)
        add("MPI_BYTE", MPI_BYTE, ops[o].name, ops[o].op, (struct field){BITS, 0, 1}, none);
    for (size_t o = 0; o < 4; o++) {
        add("MPI_FLOAT", MPI_FLOAT, ops[o].name, ops[o].op, (struct field){FLOAT, 0, 4}, none);
        add("MPI_DOUBLE", MPI_DOUBLE, ops[o].name, ops[o].op, (struct field){DOUBLE, 0, 8}, none);
        add("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, ops[o].name, ops[o].op,
            (struct field){LONG_DOUBLE, 0, sizeof(long double)}, none);
        add("MPI_AINT", MPI_AINT, ops[o].name, ops[o].op, (struct field){BITS, 0, sizeof(MPI_Aint)},
            none);
    }
    add("MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, "sum", MPI_SUM, (struct field){DOUBLE, 0, 8},
        (struct field){DOUBLE, 8, 8});
    add("MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, "sum", MPI_SUM, (struct field){FLOAT, 0, 4},
        (struct field){FLOAT, 4, 4});
    for (int o = 0; o < 2; o++) {
        const char *name = o ? "minloc" : "maxloc";
        MPI_Op op = o ? MPI_MINLOC : MPI_MAXLOC;
        add("MPI_2INT", MPI_2INT, name, op, (struct field){SMALL, 0, 4},
            (struct field){SMALL, 4, 4});
        add("MPI_FLOAT_INT", MPI_FLOAT_INT, name, op, (struct field){FLOAT, 0, 4},
            (struct field){SMALL, 4, 4});
        add("MPI_DOUBLE_INT", MPI_DOUBLE_INT, name, op, (struct field){DOUBLE, 0, 8},
            (struct field){SMALL, 8, 4});
        add("MPI_LONG_INT", MPI_LONG_INT, name, op, (struct field){SMALL, 0, sizeof(long)},
            (struct field){SMALL, sizeof(long), 4});
        add("MPI_SHORT_INT", MPI_SHORT_INT, name, op, (struct field){SMALL, 0, 2},
            (struct field){SMALL, 4, 4});
    }
}

void combinations_make(void) {
    make_predefined();
    make_user();
}

void combinations_free(void) {
    for (int i = 0; i < user_types; i++) MPI_Type_free(&pairs[i].type);
    MPI_Op_free(&compose_op);
    MPI_Op_free(&add_op);
    MPI_Op_free(&first_op);
}

/* The program's own are a quarter. */
int combination_draw(struct random *random, bool plain) {
    for (;;) {
        int row = below(random, 4) ? below(random, user_first)
                                   : user_first + below(random, combination_count - user_first);
        if (!plain || !combinations[row].gaps) return row;
    }
}

const char *combination_name(int combination) { return combinations[combination].name; }
bool combination_gaps(int combination) { return combinations[combination].gaps; }
bool combination_ordered(int combination) {
    int commutes;
    MPI_Op_commutative(combinations[combination].op, &commutes);
    return !commutes;
}
bool combination_below(int combination) { return combinations[combination].fields[0].offset < 0; }

size_t combination_bytes(int combination) {
    MPI_Aint lb, extent;
    MPI_Type_get_extent(combinations[combination].type, &lb, &extent);
    return (size_t)extent;
}

/* ---- values ---- */

static void write_field(const struct field *field, char *at, uint64_t bits, bool product) {
    static const double factors[] = {1, -1, 2, 0.5};
    double real = product ? factors[bits & 3] : (double)(bits % 17) - 8;
    int64_t small = (int64_t)(bits % 7) - 3;
    float real_float = (float)real;
    long double real_long = (long double)real;
    switch (field->kind) {
    case BITS: /* 0 is what logical operations care for */
        if (bits >> 62 == 0 && bits != 1) bits = 0;
        memcpy(at, &bits, (size_t)field->bytes);
        break;
    case TRUTH: *at = bits & 1; break;
    case FLOAT: memcpy(at, &real_float, sizeof real_float); break;
    case DOUBLE: memcpy(at, &real, sizeof real); break;
    case LONG_DOUBLE: memcpy(at, &real_long, sizeof real_long); break;
    case SMALL: memcpy(at, &small, (size_t)field->bytes); break; /* little-endian */
    case NONE: break;
    }
}

static size_t step_of(const struct ready *c) { return combination_bytes(c->trial->combination); }

void reduction_fill(const struct ready *c, char *vector, int count, uint64_t seed) {
    const struct combination *row = &combinations[c->trial->combination];
    struct random random = {seed};
    size_t step = step_of(c);
    for (int i = 0; i < count; i++)
        for (int f = 0; f < 2 && row->fields[f].kind != NONE; f++)
            write_field(&row->fields[f], vector + (size_t)i * step + row->fields[f].offset,
                        row->narrow ? draw(&random) & 1 : draw(&random), row->product);
}

/* -0 becomes 0, and the padding of a long double too. */
void reduction_canonical(const struct ready *c, char *vector, int count) {
    const struct combination *row = &combinations[c->trial->combination];
    size_t step = step_of(c);
    for (int i = 0; i < count; i++) {
        for (int f = 0; f < 2; f++) {
            char *at = vector + (size_t)i * step + row->fields[f].offset;
            float single;
            double real;
            if (row->fields[f].kind == FLOAT)
                memcpy(&single, at, 4), single += 0.0F, memcpy(at, &single, 4);
            if (row->fields[f].kind == DOUBLE)
                memcpy(&real, at, 8), real += 0.0, memcpy(at, &real, 8);
            if (row->fields[f].kind == LONG_DOUBLE && LDBL_MANT_DIG == 64)
                memset(at + 10, 0, sizeof(long double) - 10);
        }
    }
}

/* ---- a call ---- */

int part_of(const struct trial *t, int rank) {
    uint64_t number = mix(t->seed, (uint64_t)rank, 3, 0);
    if (t->collective != COLL_reduce_scatter) return t->count;
    switch (t->shape) {
    case UNIFORM: return (int)(number % (uint64_t)(t->count + 1));
    case SPARSE: return number % 4 ? 0 : t->count;
    case ONE_HUGE: return number >> 8 & 7 ? (int)(number % 3) : 4 * t->count;
    default: return t->count;
    }
}

static bool scatters(const struct trial *t) {
    return t->collective == COLL_reduce_scatter || t->collective == COLL_reduce_scatter_block;
}

/* Elements before rank's part; rank = p: of the whole vector. */
static int before(const struct trial *t, int rank) {
    int all = 0;
    if (!scatters(t)) return rank == t->place->p ? t->count : 0;
    for (int i = 0; i < rank; i++) all += part_of(t, i);
    return all;
}

static bool vector_make(struct ready *c, struct side *side, struct random *local, int count) {
    const struct trial *t = c->trial;
    MPI_Aint low, extent, step = (MPI_Aint)step_of(c);
    MPI_Type_get_true_extent(combinations[t->combination].type, &low, &extent);
    enum kind kind = t->buffers == 0   ? KIND_heap
                     : t->buffers == 1 ? (enum kind)(1 + below(local, KINDS - 1))
                                       : (enum kind)below(local, KINDS);
    ptrdiff_t high = count > 0 ? (count - 1) * step + low + extent : 0;
    int offset = 8 * below(local, 2);
    if (step == 1) offset = below(local, 8);
    if (step == 16) offset = 0;
    side->used = true;
    side->blocks = count;
    return buffer_make(&side->buffer, kind, low, high, offset);
}

bool reduction_ready(struct ready *c, struct random *local) {
    const struct trial *t = c->trial;
    const struct combination *row = &combinations[t->combination];
    int p = t->place->p, me = t->place->me, whole = before(t, p);
    bool rooted = t->collective == COLL_reduce,
         in_place = t->in_place && (!rooted || me == t->root);
    int received = scatters(t) && !in_place ? part_of(t, me) : whole;
    if (!vector_make(c, &c->send, local, whole) || !vector_make(c, &c->recv, local, received))
        return false;
    if (!buffer_make(&c->tables, (enum kind)below(local, 3), 0, 8 * p + 8, 0)) return false;
    c->op = row->op;
    c->recv.type = row->type;
    c->recv.count = t->count;
    c->recv.counts = c->tables.base;
    bool wide = false;
#if MPI_VERSION >= 4
    wide = t->large;
#endif
    for (int i = 0; i < p; i++) {
        if (wide) ((int64_t *)c->recv.counts)[i] = part_of(t, i);
        else ((int32_t *)c->recv.counts)[i] = part_of(t, i);
    }
    c->send.used = !in_place;
    c->send.memory = in_place ? MPI_IN_PLACE : c->send.buffer.base;
    c->recv.memory = rooted && me != t->root && below(local, 2) ? NULL : c->recv.buffer.base;
    c->recv.used = !rooted || me == t->root;
    return true;
}

uint64_t reduction_seed(const struct trial *t, int rank) {
    return mix(t->seed, (uint64_t)rank, 4, 0);
}

int reduction_result(const struct ready *c) {
    const struct trial *t = c->trial;
    if (!c->recv.used || (t->collective == COLL_exscan && t->place->me == 0)) return 0;
    return part_of(t, t->place->me);
}

void reduction_by_folding(const struct ready *c, char *recv) {
    const struct trial *t = c->trial;
    const struct combination *row = &combinations[t->combination];
    int p = t->place->p, me = t->place->me, whole = before(t, p), last = p - 1,
        result = reduction_result(c);
    if (t->collective == COLL_scan) last = me;
    if (t->collective == COLL_exscan) last = me - 1;
    if (result == 0) return;
    size_t step = step_of(c), room = 64 + (size_t)whole * step;
    char *x = calloc(2, room), *sum = x + room + 16;
    x += 16;
    reduction_fill(c, sum, whole, reduction_seed(t, last));
    for (int i = last - 1; i >= 0; i--) {
        reduction_fill(c, x, whole, reduction_seed(t, i));
        MPI_Reduce_local(x, sum, whole, row->type, row->op);
    }
    const char *part = sum + (size_t)(scatters(t) ? before(t, me) : 0) * step;
    MPI_Status status;
    MPI_Sendrecv(part, result, row->type, 0, 1, recv, result, row->type, 0, 1, MPI_COMM_SELF,
                 &status);
    free(x - 16);
}
