/* SPDX-License-Identifier: BSD-3-Clause */
/* reductions - an ordinary MPI program, which knows nothing of mortar: the six collectives that
 * combine, with predefined operations and types and with users' own, against what MPI_Reduce_local
 * makes of all ranks' vectors, in rank order. Numbers are small integers, so brackets do not matter
 * where results are rounded. Gaps between elements' data must stay as they are. reductions
 * [COUNT...]: lengths of the vectors. */
#include <mpi.h>

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { poison = 0x77, most_counts = 8, most_ranks = 64 };

/* An MPI library that writes behind the buffers when it scatters results with gaps: MPICH 4.0. */
static bool fragile;
static int p, me, errors, counts[most_counts] = {1, 2, 7, 100, 3000, 20000}, count_of_counts = 6;

/* ---- elements ---- */

static void set_integer(char *at, int value, size_t bytes) {
    int64_t wide = value;
    memcpy(at, &wide, bytes);
}
static void set_float(char *at, int value, size_t bytes) {
    if (bytes == sizeof(float)) *(float *)(void *)at = (float)value;
    else if (bytes == sizeof(double)) *(double *)(void *)at = value;
    else *(long double *)(void *)at = value;
}
static void set_complex(char *at, int value, size_t bytes) {
    set_float(at, value, bytes / 2);
    set_float(at + bytes / 2, value % 2, bytes / 2);
}
static void set_truth(char *at, int value, size_t bytes) { set_integer(at, value & 1, bytes); }
static void set_double_int(char *at, int value, size_t bytes) {
    (void)bytes;
    set_float(at, value, sizeof(double));
    set_integer(at + sizeof(double), me, sizeof(int));
}
static void set_two_ints(char *at, int value, size_t bytes) {
    (void)bytes;
    set_integer(at, value, sizeof(int));
    set_integer(at + sizeof(int), me, sizeof(int));
}
static void set_short_int(char *at, int value, size_t bytes) {
    (void)bytes;
    set_integer(at, value, sizeof(short));
    set_integer(at + sizeof(int), me, sizeof(int));
}
static void set_matrix(char *at, int value, size_t bytes) {
    for (size_t i = 0; i < bytes; i += sizeof(unsigned))
        set_integer(at + i, value * (int)(i + 3) + me, sizeof(unsigned));
}

/* ---- users' operations ---- */

/* 2 x 2 matrices of unsigned integers, modulo 2^32: does not commute. */
static void multiply(void *in, void *inout, int *length, MPI_Datatype *type) {
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    for (int k = 0; k < *length; k++) {
        unsigned *a = (unsigned *)(void *)((char *)in + k * extent),
                 *b = (unsigned *)(void *)((char *)inout + k * extent);
        unsigned c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                         a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        memcpy(b, c, sizeof c);
    }
}
/* The same where the elements lie in the columns of an array: see spread below. */
enum { column = 48 };
static void multiply_spread(void *in, void *inout, int *length, MPI_Datatype *type) {
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    for (int k = 0; k < *length; k++) {
        char *a = (char *)in + k * extent - column, *b = (char *)inout + k * extent - column;
        unsigned x[4], y[4];
        for (int i = 0; i < 4; i++)
            memcpy(&x[i], a + i * column, sizeof *x), memcpy(&y[i], b + i * column, sizeof *y);
        unsigned c[4] = {x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3],
                         x[2] * y[0] + x[3] * y[2], x[2] * y[1] + x[3] * y[3]};
        for (int i = 0; i < 4; i++) memcpy(b + i * column, &c[i], sizeof *c);
    }
}

/* ---- one case: a type, an operation, a length ---- */

struct test {
    MPI_Datatype type;
    MPI_Op op;
    void (*set)(char *at, int value, size_t bytes);
    const char *name;
    int count;
};

static size_t span_of(const struct test *test, int count) {
    MPI_Aint lb, extent, low, span;
    MPI_Type_get_extent(test->type, &lb, &extent);
    MPI_Type_get_true_extent(test->type, &low, &span);
    return count ? (size_t)(span + (count - 1) * extent) : 0;
}

static MPI_Aint low_of(MPI_Datatype type) {
    MPI_Aint low, span;
    MPI_Type_get_true_extent(type, &low, &span);
    return low;
}

static char *data_of(const struct test *test, int count, const char *buffer, int *bytes) {
    MPI_Pack_size(count, test->type, MPI_COMM_SELF, bytes);
    char *packed = malloc((size_t)*bytes + 1);
    int position = 0;
    MPI_Pack(buffer - low_of(test->type), count, test->type, packed, *bytes, &position,
             MPI_COMM_SELF);
    *bytes = position;
    return packed;
}

/* Buffers begin where the data begin; MPI wants the address of the element. */
static void *element(const struct test *test, char *buffer) { return buffer - low_of(test->type); }

static char *vector(const struct test *test, int count, int salt) {
    size_t span = span_of(test, count);
    char *buffer = malloc(span + 1), *plain = malloc(span + 64);
    int size, position = 0;
    MPI_Type_size(test->type, &size);
    memset(buffer, poison, span + 1);
    memset(plain, 0, span + 64);
    MPI_Aint lb, extent;
    MPI_Type_get_extent(test->type, &lb, &extent);
    if (test->set == set_matrix) {
        for (int i = 0; i < count; i++)
            set_matrix(plain + i * size, 1 + (i * 7 + me * 3 + salt) % 5, (size_t)size);
        MPI_Unpack(plain, count * size, &position, element(test, buffer), count, test->type,
                   MPI_COMM_SELF);
    } else {
        for (int i = 0; i < count; i++)
            test->set(plain + i * extent, 1 + (i * 7 + me * 3 + salt) % 2, (size_t)size);
        char *packed = malloc((size_t)(count * size) + 64);
        MPI_Pack(plain, count, test->type, packed, count * size + 64, &position, MPI_COMM_SELF);
        position = 0;
        MPI_Unpack(packed, count * size, &position, element(test, buffer), count, test->type,
                   MPI_COMM_SELF);
        free(packed);
    }
    free(plain);
    return buffer;
}

/* All ranks' vectors up to `upto`, combined in rank order. */
static char *combined(const struct test *test, int count, const char *mine, int upto) {
    int span = (int)span_of(test, count);
    char *all = malloc((size_t)span * (size_t)p + 1);
    MPI_Allgather(mine, span, MPI_BYTE, all, span, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 1; r <= upto; r++)
        MPI_Reduce_local(element(test, all + (size_t)(r - 1) * (size_t)span),
                         element(test, all + (size_t)r * (size_t)span), count, test->type,
                         test->op);
    char *result = malloc((size_t)span + 1);
    if (upto >= 0) memcpy(result, all + (size_t)upto * (size_t)span, (size_t)span);
    free(all);
    return result;
}

static void wrong(const struct test *test, const char *what, bool in_place, const char *why) {
    if (errors++ < 5)
        printf("rank %d: %s of %d x %s%s: %s\n", me, what, test->count, test->name,
               in_place ? " in place" : "", why);
}

/* `received` elements of the result must be those of `wanted` from element `first` on; gaps are not
 * written. */
static void compare(const struct test *test, const char *what, bool in_place, const char *got,
                    int received, const char *wanted, int first) {
    MPI_Aint lb, extent;
    int bytes, same;
    MPI_Type_get_extent(test->type, &lb, &extent);
    if (received == 0) return;
    char *a = data_of(test, received, got, &bytes),
         *b = data_of(test, received, wanted + first * extent, &same);
    if (memcmp(a, b, (size_t)bytes) != 0) wrong(test, what, in_place, "a wrong result");
    size_t span = span_of(test, received);
    char *copy = malloc(span + 1);
    int position = 0;
    memset(copy, poison, span + 1);
    MPI_Unpack(a, bytes, &position, element(test, copy), received, test->type, MPI_COMM_SELF);
    /* Elements that are no result lie there. */
    bool others = in_place && received < test->count * p && strstr(what, "scatter");
    if (!others && memcmp(copy, got, span) != 0) wrong(test, what, in_place, "a gap was written");
    free(a), free(b), free(copy);
}

enum collective { REDUCE, ALLREDUCE, SCATTER, SCATTER_BLOCK, SCAN, EXSCAN, COLLECTIVES };

static void run(struct test *test, enum collective c, bool in_place, bool on_stack) {
    static const char *const names[] = {
        "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"};
    static char outside[2][1 << 16];
    int parts[most_ranks], n = test->count, root = n % p, all = n, first = 0, received = n;
    for (int r = 0; r < p; r++) parts[r] = c == SCATTER ? n / p + (r % 3) * (n > 3) : n;
    if (c == SCATTER || c == SCATTER_BLOCK) {
        for (int r = all = 0; r < p; r++) first += r < me ? parts[r] : 0, all += parts[r];
        received = parts[me];
    }
    if (all == 0) return;
    if (c == REDUCE && me != root) in_place = false;
    char *send = vector(test, all, n), *heap = send, *wanted;
    size_t span = span_of(test, all);
    char *recv = malloc(span + 1), *other = recv;
    int upto = c == SCAN ? me : c == EXSCAN ? me - 1 : p - 1;
    wanted = combined(test, all, send, upto);
    if (on_stack && span < sizeof *outside)
        recv = outside[0], send = memcpy(outside[1], heap, span);
    memset(recv, poison, span);
    void *from = in_place ? MPI_IN_PLACE : element(test, send), *to = element(test, recv);
    if (in_place) memcpy(recv, send, span);
    switch (c) {
    case REDUCE:
        MPI_Reduce(from, me == root ? to : NULL, n, test->type, test->op, root, MPI_COMM_WORLD);
        break;
    case ALLREDUCE: MPI_Allreduce(from, to, n, test->type, test->op, MPI_COMM_WORLD); break;
    case SCATTER: MPI_Reduce_scatter(from, to, parts, test->type, test->op, MPI_COMM_WORLD); break;
    case SCATTER_BLOCK:
        MPI_Reduce_scatter_block(from, to, n, test->type, test->op, MPI_COMM_WORLD);
        break;
    case SCAN: MPI_Scan(from, to, n, test->type, test->op, MPI_COMM_WORLD); break;
    default: MPI_Exscan(from, to, n, test->type, test->op, MPI_COMM_WORLD);
    }
    memset(send, 0x11, span); /* who still reads it makes a wrong result */
    if ((c != REDUCE || me == root) && (c != EXSCAN || me > 0))
        compare(test, names[c], in_place, recv, received, wanted, first);
    else if (c == REDUCE)
        for (size_t i = 0; i < span; i++)
            if (recv[i] != poison)
                wrong(test, names[c], in_place, "written, but not the root"), i = span;
    free(heap), free(other), free(wanted);
}

static void all_collectives(struct test test) {
    for (int k = 0; k < count_of_counts; k++)
        for (int way = 0; way < 4; way++)
            for (int c = 0; c < COLLECTIVES; c++) {
                test.count = counts[k];
                if (fragile && (c == SCATTER || c == SCATTER_BLOCK)) continue;
                if ((c == SCATTER_BLOCK && test.count * p > 100000) ||
                    (way > 1 && test.count > 100))
                    continue;
                run(&test, (enum collective)c, way & 1, way & 2);
            }
}

/* ---- the cases ---- */

static void numbers(void) {
    const struct {
        MPI_Datatype type;
        void (*set)(char *at, int value, size_t bytes);
        const char *name;
        int ops; /* how many of those below */
    } types[] = {{MPI_INT, set_integer, "int", 10},
                 {MPI_DOUBLE, set_float, "double", 4},
                 {MPI_FLOAT, set_float, "float", 4},
                 {MPI_INT8_T, set_integer, "int8", 10},
                 {MPI_CHAR, set_integer, "char", 10},
                 {MPI_UINT16_T, set_integer, "uint16", 10},
                 {MPI_LONG_LONG_INT, set_integer, "long long", 10},
                 {MPI_LONG_DOUBLE, set_float, "ldouble", 4},
                 {MPI_C_DOUBLE_COMPLEX, set_complex, "complex", 1},
                 {MPI_C_FLOAT_COMPLEX, set_complex, "float complex", 1}};
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX,  MPI_MIN, MPI_LAND,
                          MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int o = 0; o < types[t].ops; o++)
            if (o == 0 || (o + (int)t) % 3 == 0 || types[t].type == MPI_INT) /* some of all pairs */
                all_collectives((struct test){.type = types[t].type,
                                              .op = ops[o],
                                              .set = types[t].set,
                                              .name = types[t].name});
}

static void others(void) {
    all_collectives(
        (struct test){.type = MPI_BYTE, .op = MPI_BXOR, .set = set_integer, .name = "byte"});
    all_collectives(
        (struct test){.type = MPI_C_BOOL, .op = MPI_LAND, .set = set_truth, .name = "bool"});
    all_collectives((struct test){
        .type = MPI_DOUBLE_INT, .op = MPI_MINLOC, .set = set_double_int, .name = "double and int"});
    all_collectives((struct test){
        .type = MPI_DOUBLE_INT, .op = MPI_MAXLOC, .set = set_double_int, .name = "double and int"});
    all_collectives(
        (struct test){.type = MPI_2INT, .op = MPI_MAXLOC, .set = set_two_ints, .name = "two ints"});
    all_collectives((struct test){
        .type = MPI_SHORT_INT, .op = MPI_MINLOC, .set = set_short_int, .name = "short and int"});
}

static void users(void) {
    MPI_Datatype matrix, padded, spread, column_type;
    MPI_Op op, op_spread;
    MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Type_create_resized(matrix, 0, 24, &padded);
    MPI_Type_commit(&padded);
    /* four integers, each in another row; the next element is the next column, and the data begin
     * before the address */
    MPI_Type_create_hindexed_block(4, 1, (MPI_Aint[]){-column, 0, column, 2 * column}, MPI_UNSIGNED,
                                   &column_type);
    MPI_Type_create_resized(column_type, 0, sizeof(unsigned), &spread);
    MPI_Type_commit(&spread);
    MPI_Op_create(multiply, 0, &op);
    MPI_Op_create(multiply_spread, 0, &op_spread);
    all_collectives((struct test){.type = matrix, .op = op, .set = set_matrix, .name = "matrix"});
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    fragile = !strstr(version, "Open MPI");
    all_collectives(
        (struct test){.type = padded, .op = op, .set = set_matrix, .name = "matrix with a gap"});
    int kept = count_of_counts, few[most_counts];
    memcpy(few, counts, sizeof few);
    /* Elements must not overlap. */
    for (int k = 0; k < kept; k++) counts[k] = counts[k] < column / 4 / p ? counts[k] : 1;
    count_of_counts = 2;
    fragile = fragile || 2 * p > column / 4;
    all_collectives(
        (struct test){.type = spread, .op = op_spread, .set = set_matrix, .name = "spread matrix"});
    memcpy(counts, few, sizeof few);
    count_of_counts = kept;
    MPI_Op_free(&op);
    MPI_Op_free(&op_spread);
    MPI_Type_free(&column_type);
    MPI_Type_free(&spread);
    MPI_Type_free(&padded);
    MPI_Type_free(&matrix);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc > 1) count_of_counts = 0;
    for (int a = 1; a < argc && a <= most_counts; a++) counts[count_of_counts++] = atoi(argv[a]);
    numbers();
    others();
    users();
    int all = 0;
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all > 0;
}
