/* SPDX-License-Identifier: BSD-3-Clause */
/* reductions.c - reductions of whole numbers, exact in any order of brackets, worked out again from
 * everybody's contributions, in the order of ranks. Operations of the user's own: some commute,
 * some do not, one works on elements with gaps. */
#include <complex.h>
#include <stdlib.h>
#include <string.h>
#include "field.h"

struct affine { /* x -> factor * x + term */
    uint32_t factor, term;
};
struct matrix {
    uint16_t a, b, c, d;
};
struct __attribute__((packed)) double_int {
    double value;
    int place;
};
struct __attribute__((packed)) long_int {
    long value;
    int place;
};
struct __attribute__((packed)) short_int {
    short value;
    int place;
};
struct two_int {
    int value, place;
};
struct float_int {
    float value;
    int place;
};

static struct affine then(struct affine a, struct affine b) {
    return (struct affine){a.factor * b.factor, a.term * b.factor + b.term};
}

static struct matrix times(struct matrix x, struct matrix y) {
    return (struct matrix){(uint16_t)(x.a * y.a + x.b * y.c), (uint16_t)(x.a * y.b + x.b * y.d),
                           (uint16_t)(x.c * y.a + x.d * y.c), (uint16_t)(x.c * y.b + x.d * y.d)};
}

enum { AFFINE_EXTENT = 24, FACTOR_AT = 4, TERM_AT = 16 };
enum { OWN_AFFINE, OWN_SPARSE, OWN_MATRIX, OWN_FIRST, OWN_CIRCLE, OWNS };
static MPI_Op own_ops[OWNS];
static MPI_Datatype affine_type, sparse_type, matrix_type;

/* The users' functions: inout = in op inout, where `in` comes from lower ranks. */
static void do_affine(void *in, void *inout, int *count, MPI_Datatype *type) {
    struct affine *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++) b[i] = then(a[i], b[i]);
}

static void do_sparse(void *in, void *inout, int *count, MPI_Datatype *type) {
    char *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++, a += AFFINE_EXTENT, b += AFFINE_EXTENT) {
        struct affine x = {*(uint32_t *)(a + FACTOR_AT), *(uint32_t *)(a + TERM_AT)};
        struct affine y = {*(uint32_t *)(b + FACTOR_AT), *(uint32_t *)(b + TERM_AT)};
        y = then(x, y);
        *(uint32_t *)(b + FACTOR_AT) = y.factor, *(uint32_t *)(b + TERM_AT) = y.term;
    }
}

static void do_matrix(void *in, void *inout, int *count, MPI_Datatype *type) {
    struct matrix *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++) b[i] = times(a[i], b[i]);
}

static void do_first(void *in, void *inout, int *count, MPI_Datatype *type) {
    int *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++) b[i] = a[i] ? a[i] : b[i];
}

static void do_circle(void *in, void *inout, int *count, MPI_Datatype *type) {
    uint64_t *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++) b[i] += a[i] + a[i] * b[i];
}

void reductions_start(void) {
    MPI_Type_contiguous(2, MPI_UINT32_T, &affine_type);
    MPI_Type_contiguous(4, MPI_UINT16_T, &matrix_type);
    MPI_Aint places[2] = {FACTOR_AT, TERM_AT};
    MPI_Datatype bare, types[2] = {MPI_UINT32_T, MPI_UINT32_T};
    MPI_Type_create_struct(2, (int[]){1, 1}, places, types, &bare);
    MPI_Type_create_resized(bare, 0, AFFINE_EXTENT, &sparse_type);
    MPI_Type_free(&bare);
    MPI_Type_commit(&affine_type), MPI_Type_commit(&matrix_type), MPI_Type_commit(&sparse_type);
    MPI_Op_create(do_affine, 0, &own_ops[OWN_AFFINE]);
    MPI_Op_create(do_sparse, 0, &own_ops[OWN_SPARSE]);
    MPI_Op_create(do_matrix, 0, &own_ops[OWN_MATRIX]);
    MPI_Op_create(do_first, 0, &own_ops[OWN_FIRST]);
    MPI_Op_create(do_circle, 1, &own_ops[OWN_CIRCLE]);
}

void reductions_end(void) {
    MPI_Type_free(&affine_type), MPI_Type_free(&matrix_type), MPI_Type_free(&sparse_type);
    for (int i = 0; i < OWNS; i++) MPI_Op_free(&own_ops[i]);
}

/* Unsigned numbers stay below half: MPICH 4.0 and, for MPI_UNSIGNED_LONG, Open MPI 4.1 compare them
 * as signed. */
/* R(name, MPI type, C type packed, operation, value of the random number r, a op b): the rows. */
#define SMALL ((int)(r % 2001) - 1000)
#define TINY ((int)(r % 3) - 1)
#define BIT_ (r & 1)
#define LOWER(T) (b.value < a.value || (b.value == a.value && b.place < a.place) ? b : a)
#define HIGHER(T) (b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a)
#define PAIR(T) ((T){(int)(r % 7) - 3, (int)(r >> 8 & 127)})
#define ROWS(R)                                                                                    \
    R(sum_int, MPI_INT, int, MPI_SUM, SMALL, a + b)                                                \
    R(sum_double, MPI_DOUBLE, double, MPI_SUM, SMALL, a + b)                                       \
    R(max_double, MPI_DOUBLE, double, MPI_MAX, SMALL, a > b ? a : b)                               \
    R(sum_float, MPI_FLOAT, float, MPI_SUM, (float)SMALL, a + b)                                   \
    R(sum_long_long, MPI_LONG_LONG, long long, MPI_SUM, (long long)(r >> 16), a + b)               \
    R(sum_byte, MPI_INT8_T, int8_t, MPI_SUM, (int8_t)TINY, (int8_t)(a + b))                        \
    R(sum_short, MPI_SHORT, short, MPI_SUM, (short)(SMALL / 4), (short)(a + b))                    \
    R(prod_unsigned, MPI_UNSIGNED, unsigned, MPI_PROD, (unsigned)r | 1, a * b)                     \
    R(prod_double, MPI_DOUBLE, double, MPI_PROD, r % 4 ? 1 - 2 * (double)BIT_ : 2, a * b)          \
    R(min_int, MPI_INT, int, MPI_MIN, SMALL, a < b ? a : b)                                        \
    R(min_char, MPI_SIGNED_CHAR, signed char, MPI_MIN, (signed char)r, a < b ? a : b)              \
    R(max_unsigned64, MPI_UINT64_T, uint64_t, MPI_MAX, r >> 1, a > b ? a : b)                      \
    R(band_byte, MPI_BYTE, unsigned char, MPI_BAND, (unsigned char)(r | r >> 8 | r >> 16), a &b)   \
    R(bor_unsigned, MPI_UNSIGNED, unsigned, MPI_BOR, (unsigned)(r & r >> 16 & r >> 32), a | b)     \
    R(bxor_long, MPI_LONG, long, MPI_BXOR, (long)r, a ^ b)                                         \
    R(land_int, MPI_INT, int, MPI_LAND, r % 8 != 0, a && b)                                        \
    R(lor_int, MPI_INT, int, MPI_LOR, r % 8 == 0, a || b)                                          \
    R(lxor_int, MPI_INT, int, MPI_LXOR, (int)BIT_, !a != !b)                                       \
    R(sum_complex, MPI_C_DOUBLE_COMPLEX, double complex, MPI_SUM,                                  \
      SMALL + (int)(r >> 32 & 255) * I, a + b)                                                     \
    R(minloc_two_int, MPI_2INT, struct two_int, MPI_MINLOC, PAIR(struct two_int), LOWER())         \
    R(maxloc_two_int, MPI_2INT, struct two_int, MPI_MAXLOC, PAIR(struct two_int), HIGHER())        \
    R(maxloc_double, MPI_DOUBLE_INT, struct double_int, MPI_MAXLOC, PAIR(struct double_int),       \
      HIGHER())                                                                                    \
    R(minloc_double, MPI_DOUBLE_INT, struct double_int, MPI_MINLOC, PAIR(struct double_int),       \
      LOWER())                                                                                     \
    R(minloc_long, MPI_LONG_INT, struct long_int, MPI_MINLOC, PAIR(struct long_int), LOWER())      \
    R(maxloc_short, MPI_SHORT_INT, struct short_int, MPI_MAXLOC, PAIR(struct short_int), HIGHER()) \
    R(minloc_float, MPI_FLOAT_INT, struct float_int, MPI_MINLOC, PAIR(struct float_int), LOWER())  \
    R(own_affine, affine_type, struct affine, own_ops[OWN_AFFINE],                                 \
      ((struct affine){(uint32_t)r | 1, (uint32_t)(r >> 32)}), then(a, b))                         \
    R(own_sparse, sparse_type, struct affine, own_ops[OWN_SPARSE],                                 \
      ((struct affine){(uint32_t)r | 1, (uint32_t)(r >> 32)}), then(a, b))                         \
    R(own_matrix, matrix_type, struct matrix, own_ops[OWN_MATRIX],                                 \
      ((struct matrix){(uint16_t)r, (uint16_t)(r >> 16), (uint16_t)(r >> 32),                      \
                       (uint16_t)(r >> 48)}),                                                      \
      times(a, b))                                                                                 \
    R(own_first, MPI_INT, int, own_ops[OWN_FIRST], r % 3 ? 0 : SMALL, a ? a : b)                   \
    R(own_circle, MPI_UINT64_T, uint64_t, own_ops[OWN_CIRCLE], r, a + b + a * b)

struct reduction {
    const char *name;
    size_t bytes; /* packed */
    void (*value)(uint64_t r, void *to);
    void (*fold)(void *a, uint64_t r); /* a = a op value(r) */
};
#define R(name, type, ctype, op, value, fold)                                                      \
    static void value_##name(uint64_t r, void *to) {                                               \
        ctype a = (ctype)(value);                                                                  \
        memcpy(to, &a, sizeof a);                                                                  \
    }                                                                                              \
    static void fold_##name(void *to, uint64_t r) {                                                \
        ctype a, b = (ctype)(value);                                                               \
        memcpy(&a, to, sizeof a);                                                                  \
        a = (ctype)(fold);                                                                         \
        memcpy(to, &a, sizeof a);                                                                  \
    }
ROWS(R)
#undef R
#define R(name, type, ctype, op, value, fold) {#name, sizeof(ctype), value_##name, fold_##name},
static const struct reduction table[] = {ROWS(R)};
#undef R
enum { REDUCTIONS = sizeof table / sizeof *table };

const char *reduction_name(const struct op *op) { return op->reduction ? op->reduction->name : ""; }

MPI_Op reduction_op(const struct op *op) {
#define R(name, type, ctype, op, value, fold) op,
    const MPI_Op ops[] = {ROWS(R)};
#undef R
    return ops[op->reduction - table];
}

static struct layout *layout_for(const struct reduction *reduction) {
#define R(name, type, ctype, op, value, fold) type,
    const MPI_Datatype types[] = {ROWS(R)};
#undef R
    MPI_Datatype type = types[reduction - table];
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    if (type == sparse_type)
        return layout_of(type, 2, (struct run[]){{FACTOR_AT, 4}, {TERM_AT, 4}}, extent);
    if (type == MPI_SHORT_INT) return layout_of(type, 2, (struct run[]){{0, 2}, {4, 4}}, extent);
    return layout_of(type, 1, &(struct run){0, (long)reduction->bytes}, extent);
}

static uint64_t luck(const struct op *op, int rank, long element) {
    uint64_t comm = (uint64_t)op->comm->number << 32 | (uint32_t)op->comm->colour;
    return mix(mix(settings.seed, (uint64_t)op->call) + comm,
               (uint64_t)rank << 40 | (uint64_t)element);
}

void reductions_contents(const struct op *op, const struct block *block, bool after, char *packed) {
    const struct reduction *reduction = op->reduction;
    long first = (long)(after ? block->after : block->before) - 1; /* element */
    int me = op->comm->me, ranks = op->kind == Scan     ? me + 1
                                   : op->kind == Exscan ? me
                                                        : op->comm->size;
    for (long i = 0; i < block->count; i++, packed += reduction->bytes) {
        reduction->value(luck(op, after ? 0 : me, first + i), packed);
        for (int rank = 1; after && rank < ranks; rank++)
            reduction->fold(packed, luck(op, rank, first + i));
    }
}

/* `count` elements of which this side's first is number `from` of all, and the first of the result
 * number `result`, or -1. */
static void lay(const struct op *op, struct side *side, int block, long count, long at, long before,
                long after) {
    side->block[block] = (struct block){
        .layout = block ? side->block[0].layout : layout_for(op->reduction), .count = count};
    side->block[block].at = at * side->block[0].layout->extent;
    side->block[block].before = before < 0 ? 0 : (uint64_t)before + 1;
    side->block[block].after = after < 0 ? 0 : (uint64_t)after + 1;
    side->block[block].loose = before >= 0 && after < 0 && side == &op->recv;
    side->counts[block] = (int)count;
    side->types[block] = side->block[0].layout->type;
}

static int draw_shares(struct op *op, struct dice *dice) {
    int p = op->comm->size, each = (int)(op->bytes / (long)op->reduction->bytes), all = 0,
        spread = below(dice, 3);
    op->shares = calloc((size_t)p, sizeof(int));
    for (int i = 0; i < p; i++) {
        op->shares[i] = op->kind == Reduce_scatter_block || !spread ? each
                        : spread == 1                               ? below(dice, 2 * each + 1)
                                                                    : 0;
        if (spread == 2 && op->kind == Reduce_scatter && chance(dice, 40)) op->shares[i] = each;
        all += op->shares[i];
    }
    return all;
}

void reductions_plan(struct op *op, struct dice shared, struct dice own, enum place place) {
    do op->reduction = &table[below(&shared, REDUCTIONS)];
    while ((op->reduction->value == value_own_sparse && quirk(op->kind, SPARSE)) ||
           ((op->reduction->bytes == 12 || op->reduction->bytes == 6) && quirk(op->kind, PADDED)));
    op->root = below(&shared, op->comm->size);
    op->in_place = chance(&shared, 25) && (op->kind != Reduce || op->comm->me == op->root) &&
                   !quirk(op->kind, IN_PLACE);
    int me = op->comm->me, n = (int)(op->bytes / (long)op->reduction->bytes);
    bool shares = op->kind == Reduce_scatter || op->kind == Reduce_scatter_block,
         empty = op->kind == Exscan && !me;
    bool receives = op->kind != Reduce || me == op->root,
         spare = chance(&own, 50) && settings.nothing;
    if (shares) n = draw_shares(op, &shared);
    op->elements = n;
    if (!op->in_place) {
        side_open(&op->send, 1);
        lay(op, &op->send, 0, n, 0, 0, -1);
        op->send.block[0].loose = false;
        side_place(&op->send, place, &own);
    }
    if (!receives && spare) return;
    if (empty && !op->in_place && spare && !quirk(op->kind, NULL_RECEIVE)) return;
    side_open(&op->recv, shares && op->in_place ? 2 : 1);
    long before = op->in_place ? 0 : -1, first = 0;
    if (shares) {
        for (int i = 0; i < me; i++) first += op->shares[i];
        lay(op, &op->recv, 0, op->shares[me], 0, before, first);
        if (op->in_place)
            lay(op, &op->recv, 1, n - op->shares[me], op->shares[me], op->shares[me], -1);
    } else {
        lay(op, &op->recv, 0, n, 0, before, empty || !receives ? -1 : 0);
        op->recv.block[0].loose |= empty;
    }
    side_place(&op->recv, place, &own);
}
