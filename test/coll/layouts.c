/* SPDX-License-Identifier: BSD-3-Clause */
/* layouts - one datatype of each kind that has ever broken a collective: gaps, negative bounds,
 * extent larger and smaller than the data, elements out of order without a gap, pairs with padding,
 * structures, overlapping elements to send from. */
#include "driver.h"

enum { most_layouts = 64 };
struct layout layouts[most_layouts];
static int layout_count;
const int family_bytes[families] = {1, 2, 8, 12, 13};
MPI_Datatype empty_type;

static void add(const char *name, int family, int elements, MPI_Datatype type, bool send_only) {
    MPI_Type_commit(&type);
    layouts[layout_count++] = (struct layout){name, family, elements, send_only, type};
}

static MPI_Datatype resized(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent) {
    MPI_Datatype made;
    MPI_Type_create_resized(type, lb, extent, &made);
    MPI_Type_free(&type);
    return made;
}

static void make_family(int family, MPI_Datatype basic) {
    MPI_Datatype type, inner;
    MPI_Aint lb, x;
    MPI_Type_get_extent(basic, &lb, &x);
    MPI_Type_dup(basic, &type);
    add("dup", family, 1, type, false);
    MPI_Type_contiguous(3, basic, &type);
    add("contiguous", family, 3, type, false);
    MPI_Type_vector(2, 2, 3, basic, &type);
    add("vector", family, 4, type, false);
    MPI_Type_contiguous(2, basic, &type);
    add("resized", family, 2, resized(type, -x, 4 * x), false);
    int ones[2] = {1, 1}, swapped[2] = {1, 0};
    MPI_Aint around[2] = {-x, x};
    MPI_Type_create_hindexed(2, ones, around, basic, &type);
    add("negative", family, 2, resized(type, -x, 3 * x), false);
    MPI_Type_indexed(2, ones, swapped, basic, &type);
    add("permuted", family, 2, type, false);
    /* Elements 0 and 2, then 1 and 3: no gap, but out of order. */
    MPI_Type_vector(2, 1, 2, basic, &inner);
    inner = resized(inner, 0, x);
    MPI_Type_contiguous(2, inner, &type);
    MPI_Type_free(&inner);
    add("interleaved", family, 4, resized(type, 0, 4 * x), false);
    int sizes[3] = {4, 6, 5}, parts[3] = {2, 3, 2}, starts[3] = {1, 2, 1};
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, basic, &type);
    add("subarray", family, 12, type, false);
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, basic, &type);
    add("Fortran subarray", family, 12, type, false);
    int places_of[3] = {4, 0, 2};
    MPI_Type_create_indexed_block(3, 2, places_of, basic, &type);
    add("indexed block", family, 6, type, false);
    /* Elements 0 and 2; no layout: the host packs them. */
    int four = 4, cyclic = MPI_DISTRIBUTE_CYCLIC, each = 1, two = 2;
    MPI_Type_create_darray(2, 0, 1, &four, &cyclic, &each, &two, MPI_ORDER_C, basic, &type);
    add("distributed", family, 2, type, false);
    MPI_Type_vector(3, 1, 0, basic, &type);
    add("overlapping", family, 3, resized(type, 0, 2 * x), true);
}

/* A record of a short, a double and three bytes: two memory layouts. */
static void make_records(int family) {
    int lengths[3] = {1, 1, 3};
    MPI_Datatype types[3] = {MPI_SHORT, MPI_DOUBLE, MPI_BYTE}, type;
    MPI_Aint natural[3] = {0, 8, 16}, shuffled[3] = {16, 0, 9};
    MPI_Type_create_struct(3, lengths, natural, types, &type);
    add("struct", family, 1, resized(type, 0, 24), false);
    MPI_Type_create_struct(3, lengths, shuffled, types, &type);
    add("shuffled struct", family, 1, resized(type, -3, 23), false);
    MPI_Aint tight[3] = {0, 2, 10};
    MPI_Type_create_struct(3, lengths, tight, types, &type); /* no gap, in order */
    add("tight struct", family, 1, resized(type, 0, 13), false);
    MPI_Type_contiguous(2, layouts[layout_count - 3].type, &type);
    add("two structs", family, 2, type, false);
}

void layouts_make(void) {
    const struct layout basics[] = {
        {"MPI_BYTE", 0, 1, false, MPI_BYTE},
        {"MPI_SHORT", 1, 1, false, MPI_SHORT},
        {"MPI_DOUBLE", 2, 1, false, MPI_DOUBLE},
        {"MPI_DOUBLE_INT", 3, 1, false, MPI_DOUBLE_INT},
    };
    for (int family = 0; family < 4; family++) {
        layouts[layout_count++] = basics[family];
        make_family(family, basics[family].type);
    }
    make_records(4);
    MPI_Type_contiguous(0, MPI_BYTE, &empty_type);
    MPI_Type_commit(&empty_type);
}

void layouts_free(void) {
    for (int i = 0; i < layout_count; i++) {
        int ints, addresses, types, combiner;
        MPI_Type_get_envelope(layouts[i].type, &ints, &addresses, &types, &combiner);
        if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&layouts[i].type);
    }
    MPI_Type_free(&empty_type);
}

const struct layout *layout_basic(int family) {
    int i = 0;
    while (layouts[i].family != family) i++;
    return &layouts[i];
}

const struct layout *layout_any(struct random *random, int family, bool to_send) {
    for (;;) {
        const struct layout *layout = &layouts[below(random, layout_count)];
        if (layout->family == family && (to_send || !layout->send_only)) return layout;
    }
}
