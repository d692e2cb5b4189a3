/* SPDX-License-Identifier: BSD-3-Clause */
/* making - datatypes that an input draws: each constructor with arguments as a program gives them,
 * and the place of each byte as the MPI standard's section on derived datatypes says. */
#include "library.h"

enum { most_far = 1 << 16 }; /* of parts, so that nothing overflows */

struct maker {
    struct food *food;
    struct made *type;
    bool any;  /* the bounds are set */
    int there; /* types that can be parts */
};

static MPI_Count put(struct maker *m, MPI_Count number) {
    must(m->type->numbers < most_numbers, "too many numbers");
    m->type->number[m->type->numbers++] = number;
    return number;
}

static MPI_Count below(struct maker *m, uint64_t bound) { return (MPI_Count)eat(m->food, bound); }
static MPI_Count about(struct maker *m, int most) { return below(m, 2 * (uint64_t)most) - most; }

/* How many copies of the part, up to `most`, still have room. */
static MPI_Count some_copies(struct maker *m, const struct made *part, int most) {
    MPI_Count count = below(m, (uint64_t)most + 1);
    size_t room = (most_data - m->type->size) / (part->size > 0 ? part->size : 1);
    return (size_t)count <= room ? count : (MPI_Count)room;
}

/* Adds one element of the part at a place in bytes. */
static void add(struct maker *m, const struct made *part, ptrdiff_t at) {
    struct made *type = m->type;
    must(type->size + part->size <= most_data, "too much data");
    for (size_t i = 0; i < part->size; i++) type->place[type->size++] = at + part->place[i];
    if (!m->any || at + part->lb < type->lb) type->lb = at + part->lb;
    if (!m->any || at + part->ub > type->ub) type->ub = at + part->ub;
    m->any = true;
}

static void add_block(struct maker *m, const struct made *part, ptrdiff_t at, MPI_Count length) {
    for (MPI_Count k = 0; k < length; k++) add(m, part, at + (ptrdiff_t)k * (part->ub - part->lb));
}

static void make_vector(struct maker *m, const struct made *part, bool in_bytes) {
    ptrdiff_t extent = part->ub - part->lb;
    MPI_Count count = put(m, some_copies(m, part, 20)), each = count > 0 ? count : 1;
    MPI_Count length = below(m, 6), room = (MPI_Count)(part->size > 0 ? part->size : 1);
    while (length * each * room > most_data - (MPI_Count)m->type->size) length--;
    put(m, length);
    m->type->integers = m->type->numbers;
    MPI_Count step =
        put(m, below(m, 2) ? about(m, in_bytes ? 120 : 12) : length * (in_bytes ? extent : 1));
    if (!in_bytes) m->type->integers++;
    for (MPI_Count i = 0; i < count; i++)
        add_block(m, part, (ptrdiff_t)(i * step) * (in_bytes ? 1 : extent), length);
}

/* INDEXED and its relatives: with a length for each block, or one for all. */
static void make_indexed(struct maker *m, const struct made *part, bool in_bytes, bool one_length) {
    MPI_Count count = put(m, below(m, 9)), length[8], step = below(m, 2) ? about(m, 60) : 0;
    size_t each = part->size > 0 ? part->size : 1, room = most_data / each / 8;
    for (MPI_Count i = 0; i < count; i++) {
        length[i] = one_length && i > 0 ? length[0] : below(m, 5);
        if ((size_t)length[i] > room) length[i] = (MPI_Count)room;
        if (!one_length || i == 0) put(m, length[i]);
    }
    if (one_length && count == 0) put(m, 1);
    m->type->integers = m->type->numbers;
    for (MPI_Count i = 0; i < count; i++) {
        MPI_Count at = put(m, step ? i * step : about(m, 100));
        add_block(m, part, (ptrdiff_t)at * (in_bytes ? 1 : part->ub - part->lb), length[i]);
    }
    if (!in_bytes) m->type->integers = m->type->numbers;
}

static void make_struct(struct maker *m) {
    int count = m->type->parts;
    MPI_Count length[most_parts];
    put(m, count);
    for (int k = 0; k < count; k++) {
        size_t size = made_of(m->type->part[k])->size;
        length[k] = below(m, 4);
        if ((size_t)length[k] * size > most_data / most_parts) length[k] = 0;
        put(m, length[k]);
    }
    m->type->integers = m->type->numbers;
    for (int k = 0; k < count; k++)
        add_block(m, made_of(m->type->part[k]), (ptrdiff_t)put(m, about(m, 200)), length[k]);
}

static void make_subarray(struct maker *m, const struct made *part) {
    int dims = 1 + (int)below(m, 4);
    MPI_Count sizes[4], some[4], from[4], index[4] = {0}, all = 1;
    size_t room = most_data / (part->size > 0 ? part->size : 1), taken = 1;
    bool c_order = below(m, 2);
    for (int d = 0; d < dims; d++) {
        sizes[d] = 1 + below(m, 8);
        some[d] = 1 + below(m, (uint64_t)sizes[d]);
        while (some[d] > 1 && taken * (size_t)some[d] > room) some[d]--;
        taken *= (size_t)some[d];
        from[d] = below(m, (uint64_t)(sizes[d] - some[d] + 1));
        all *= sizes[d];
    }
    put(m, dims);
    if (m->type->large) put(m, c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN);
    m->type->integers = m->type->numbers;
    for (int d = 0; d < dims; d++) put(m, sizes[d]);
    for (int d = 0; d < dims; d++) put(m, some[d]);
    for (int d = 0; d < dims; d++) put(m, from[d]);
    if (!m->type->large) put(m, c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN);
    if (!m->type->large) m->type->integers = m->type->numbers;
    for (size_t i = 0; i < taken && taken <= room; i++) {
        MPI_Count at = 0;
        for (int d = 0; d < dims; d++) {
            int axis = c_order ? d : dims - 1 - d; /* from the slowest */
            at = at * sizes[axis] + from[axis] + index[axis];
        }
        add(m, part, (ptrdiff_t)at * (part->ub - part->lb));
        for (int d = 0; d < dims; d++) { /* the next index: the fastest first */
            int axis = c_order ? dims - 1 - d : d;
            if (++index[axis] < some[axis]) break;
            index[axis] = 0;
        }
    }
    m->type->lb = part->lb;
    m->type->ub = part->lb + (ptrdiff_t)all * (part->ub - part->lb);
}

static void make_resized(struct maker *m, const struct made *part) {
    add(m, part, 0);
    m->type->lb = (ptrdiff_t)put(m, below(m, 2) ? 0 : about(m, 20));
    MPI_Count extent = below(m, 2) ? (MPI_Count)part->size : below(m, 300);
    m->type->ub = m->type->lb + (ptrdiff_t)put(m, extent);
}

static MPI_Datatype some_part(struct maker *m) {
    int drawn = (int)below(m, (uint64_t)(given_count + 2 * m->there));
    int number = drawn < given_count ? drawn : given_count + (drawn - given_count) / 2;
    MPI_Datatype part = library_type(number);
    return made_of(part)->far <= most_far ? part : library_type(0);
}

static void make_one(struct maker *m, const struct made *part) {
    struct made *type = m->type;
    switch (type->combiner) {
    case MPI_COMBINER_DUP: add(m, part, 0); break;
    case MPI_COMBINER_CONTIGUOUS: add_block(m, part, 0, put(m, some_copies(m, part, 30))); break;
    case MPI_COMBINER_VECTOR: make_vector(m, part, false); break;
    case MPI_COMBINER_HVECTOR: make_vector(m, part, true); break;
    case MPI_COMBINER_INDEXED: make_indexed(m, part, false, false); break;
    case MPI_COMBINER_HINDEXED: make_indexed(m, part, true, false); break;
    case MPI_COMBINER_INDEXED_BLOCK: make_indexed(m, part, false, true); break;
    case MPI_COMBINER_HINDEXED_BLOCK: make_indexed(m, part, true, true); break;
    case MPI_COMBINER_STRUCT: make_struct(m); break;
    case MPI_COMBINER_SUBARRAY: make_subarray(m, part); return;
    case MPI_COMBINER_RESIZED: make_resized(m, part); return;
    default: /* a distributed array: its numbers do not matter */ type->unknown = true; return;
    }
    if (type->combiner == MPI_COMBINER_CONTIGUOUS || type->combiner == MPI_COMBINER_DUP)
        type->integers = type->numbers;
    if (type->large) type->integers = 0;
}

static void farther(struct made *type, ptrdiff_t at) {
    if (at < 0) at = -at;
    if (at > type->far) type->far = at;
}

static void make(struct food *food) {
    static const int combiners[] = {
        MPI_COMBINER_DUP,      MPI_COMBINER_CONTIGUOUS,    MPI_COMBINER_VECTOR,
        MPI_COMBINER_HVECTOR,  MPI_COMBINER_INDEXED,       MPI_COMBINER_HINDEXED,
        MPI_COMBINER_STRUCT,   MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK,
        MPI_COMBINER_SUBARRAY, MPI_COMBINER_RESIZED,       MPI_COMBINER_DARRAY};
    enum { kinds = sizeof combiners / sizeof *combiners };
    struct maker m = {.food = food, .there = library_count()};
    struct made *type = m.type = library_new();
    uint64_t drawn = eat(food, 256);
    type->combiner = combiners[drawn % kinds];
    type->parts = 1;
    type->large = drawn >= 128;
    if (type->combiner == MPI_COMBINER_DARRAY && drawn > 60) type->combiner = MPI_COMBINER_DUP;
    if (type->combiner == MPI_COMBINER_STRUCT) type->parts = (int)eat(food, most_parts + 1);
    for (int k = 0; k < type->parts; k++) {
        type->part[k] = some_part(&m);
        type->unknown = type->unknown || made_of(type->part[k])->unknown;
    }
    make_one(&m, type->parts > 0 ? made_of(type->part[0]) : NULL);
    farther(type, type->lb);
    farther(type, type->ub);
    for (size_t i = 0; i < type->size; i++) farther(type, type->place[i]);
}

MPI_Datatype some_type(struct food *food) {
    int steps = (int)eat(food, most_made / 2);
    for (int k = 0; k < steps; k++) make(food);
    if (steps > 0) return library_type(given_count + library_count() - 1);
    return some_part(&(struct maker){.food = food, .there = library_count()});
}
