/* SPDX-License-Identifier: BSD-3-Clause */
/* compile - src/mpi/compile.c against the MPI library's own MPI_Pack and MPI_Unpack: random types,
 * made by all constructors with small and large counts, up to four deep, every byte and every gap;
 * and the life of a layout: kept with its type, new for a handle that is used again. One rank.
 * usage: compile [SEED] */
#define _GNU_SOURCE
#include "mpi/calls.h"

#include "unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_parts = 5, most_bytes = 30000, most_span = 1 << 20 };

static uint64_t state;
struct changes changes; /* of src/reach/team.c */

bool type_is_fresh(MPI_Datatype type) { /* of src/mpi/fresh.c */
    (void)type;
    return false;
}

static int below(int bound) { return (int)draw_below(&state, (uint32_t)bound); }

/* Without long double: some of its bytes mean nothing, and what MPICH makes of them is not what was
 * there. */
static MPI_Datatype basic(void) {
    const MPI_Datatype all[] = {
        MPI_BYTE,      MPI_SHORT,    MPI_INT,      MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX,
        MPI_FLOAT,     MPI_LONG,     MPI_PACKED,   MPI_2INT,   MPI_DOUBLE_INT,
        MPI_SHORT_INT, MPI_LONG_INT, MPI_FLOAT_INT};
    return all[below(sizeof all / sizeof *all)];
}

/* What a constructor is given, for both kinds of counts. */
struct numbers {
    int count, length, stride, lengths[most_parts], places[most_parts], sizes[3], parts[3],
        starts[3];
    MPI_Aint bytes[most_parts];
    MPI_Count large_lengths[most_parts], large_places[most_parts], large_bytes[most_parts],
        large[3][3];
};

static struct numbers random_numbers(MPI_Aint extent) {
    struct numbers n = {.count = below(most_parts + 1),
                        .length = below(9) ? 1 + below(4) : 0,
                        .stride = below(12) - 3};
    if (n.stride * extent == -1) n.stride = 2; /* Open MPI 4 takes a step of -1 bytes for none */
    bool regular = below(2);
    int gap = 1 + below(6), at = below(5) - 2;
    for (int i = 0; i < most_parts; i++) {
        n.large_lengths[i] = n.lengths[i] = regular ? n.length : below(4);
        n.large_places[i] = n.places[i] = at;
        n.large_bytes[i] = n.bytes[i] = at * extent + (regular ? 0 : below(20));
        if (n.bytes[i] == -1) n.large_bytes[i] = n.bytes[i] = -3;
        at += regular ? n.length + gap : below(12) - 2;
    }
    for (int d = 0; d < 3; d++) {
        n.large[0][d] = n.sizes[d] = 1 + below(7);
        n.large[1][d] = n.parts[d] = 1 + below(n.sizes[d]);
        n.large[2][d] = n.starts[d] = below(n.sizes[d] - n.parts[d] + 1);
    }
    return n;
}

enum maker {
    CONTIGUOUS,
    VECTOR,
    HVECTOR,
    INDEXED,
    HINDEXED,
    BLOCK,
    HBLOCK,
    STRUCTURE,
    SUBARRAY,
    RESIZED,
    DUP,
    MAKERS
};
static const char *const maker_names[] = {
    "contiguous",     "vector", "hvector",  "indexed", "hindexed", "indexed_block",
    "hindexed_block", "struct", "subarray", "resized", "dup"};

static MPI_Datatype make(enum maker maker, const struct numbers *n, MPI_Datatype *parts,
                         MPI_Aint lb, MPI_Aint extent) {
    MPI_Datatype type = MPI_DATATYPE_NULL, part = parts[0];
    int dims = 1 + n->count % 3, order = n->length % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    switch (maker) {
    case CONTIGUOUS: MPI_Type_contiguous(n->count, part, &type); break;
    case VECTOR: MPI_Type_vector(n->count, n->length, n->stride, part, &type); break;
    case HVECTOR: MPI_Type_create_hvector(n->count, n->length, n->bytes[1], part, &type); break;
    case INDEXED: MPI_Type_indexed(n->count, n->lengths, n->places, part, &type); break;
    case HINDEXED: MPI_Type_create_hindexed(n->count, n->lengths, n->bytes, part, &type); break;
    case BLOCK: MPI_Type_create_indexed_block(n->count, n->length, n->places, part, &type); break;
    case HBLOCK: MPI_Type_create_hindexed_block(n->count, n->length, n->bytes, part, &type); break;
    case STRUCTURE: MPI_Type_create_struct(n->count, n->lengths, n->bytes, parts, &type); break;
    case SUBARRAY:
        MPI_Type_create_subarray(dims, n->sizes, n->parts, n->starts, order, part, &type);
        break;
    case RESIZED:
        MPI_Type_create_resized(part, lb + n->stride, extent + n->length + (extent < 0 ? 9 : 0),
                                &type);
        break;
    default: MPI_Type_dup(part, &type);
    }
    return type;
}

#if MPI_VERSION >= 4
static MPI_Datatype make_large(enum maker maker, const struct numbers *n, MPI_Datatype *parts,
                               MPI_Aint lb, MPI_Aint extent) {
    MPI_Datatype type = MPI_DATATYPE_NULL, part = parts[0];
    int dims = 1 + n->count % 3, order = n->length % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    switch (maker) {
    case CONTIGUOUS: MPI_Type_contiguous_c(n->count, part, &type); break;
    case VECTOR: MPI_Type_vector_c(n->count, n->length, n->stride, part, &type); break;
    case HVECTOR: MPI_Type_create_hvector_c(n->count, n->length, n->bytes[1], part, &type); break;
    case INDEXED:
        MPI_Type_indexed_c(n->count, n->large_lengths, n->large_places, part, &type);
        break;
    case HINDEXED:
        MPI_Type_create_hindexed_c(n->count, n->large_lengths, n->large_bytes, part, &type);
        break;
    case BLOCK:
        MPI_Type_create_indexed_block_c(n->count, n->length, n->large_places, part, &type);
        break;
    case HBLOCK:
        MPI_Type_create_hindexed_block_c(n->count, n->length, n->large_bytes, part, &type);
        break;
    case STRUCTURE:
        MPI_Type_create_struct_c(n->count, n->large_lengths, n->large_bytes, parts, &type);
        break;
    case SUBARRAY:
        MPI_Type_create_subarray_c(dims, n->large[0], n->large[1], n->large[2], order, part, &type);
        break;
    case RESIZED:
        MPI_Type_create_resized_c(part, lb + n->stride, extent + n->length + (extent < 0 ? 9 : 0),
                                  &type);
        break;
    default: MPI_Type_dup(part, &type);
    }
    return type;
}
#else
#define make_large make
#endif

static bool is_named(MPI_Datatype type) {
    int ints, addresses, types, combiner;
#if MPI_VERSION >= 4
    MPI_Count large_ints, large_addresses, counts, large_types;
    MPI_Type_get_envelope_c(type, &large_ints, &large_addresses, &counts, &large_types, &combiner);
    (void)ints, (void)addresses, (void)types;
#else
    MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
#endif
    return combiner == MPI_COMBINER_NAMED;
}

static void drop(MPI_Datatype *type) {
    if (!is_named(*type)) MPI_Type_free(type);
}

/* `how` gets how the type is made, innermost last; not committed. */
static MPI_Datatype random_type(int depth, char *how, size_t room) {
    *how = 0;
    if (depth == 0) return basic();
    enum maker maker = (enum maker)below(MAKERS);
    bool large = below(3) == 0;
    int length = snprintf(how, room, "%s%s ", maker_names[maker], large ? "_c" : "");
    MPI_Datatype parts[most_parts];
    MPI_Aint lb, extent;
    parts[0] = random_type(depth - 1, how + length, room - (size_t)length);
    MPI_Type_get_extent(parts[0], &lb, &extent);
    char other[400];
    for (int i = 1; i < most_parts; i++) {
        if (below(2)) MPI_Type_dup(parts[0], &parts[i]);
        else parts[i] = random_type(below(depth), other, sizeof other);
    }
    /* Open MPI 4 gets gaps wrong behind a part without data. */
    for (int i = 0; i < most_parts && maker == STRUCTURE; i++) {
        MPI_Count size;
        MPI_Type_size_x(parts[i], &size);
        if (size > 0) continue;
        drop(&parts[i]);
        parts[i] = basic();
    }
    struct numbers numbers = random_numbers(extent);
    MPI_Datatype type = large ? make_large(maker, &numbers, parts, lb, extent)
                              : make(maker, &numbers, parts, lb, extent);
    for (int i = 0; i < most_parts; i++) drop(&parts[i]);
    return type;
}

/* Memory of count elements and a gap on both sides. */
struct memory {
    char *all, *base;
    size_t bytes;
};

static struct memory memory_of(MPI_Datatype type, int count, bool random) {
    enum { around = 64 };
    MPI_Aint lb, extent, low, inner;
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &low, &inner);
    MPI_Aint high = low + inner, way = (count - 1) * extent;
    if (way < 0) low += way;
    else high += way;
    struct memory memory = {.bytes = (size_t)(high - low) + 2 * around};
    memory.all = malloc(memory.bytes);
    memory.base = memory.all + around - low;
    for (size_t i = 0; i < memory.bytes; i++)
        memory.all[i] = random ? (char)draw(&state) : (char)0xa5;
    return memory;
}

static void same(const char *found, const char *wanted, size_t bytes, const char *what,
                 const char *how) {
    for (size_t i = 0; i < bytes; i++)
        expect(found[i] == wanted[i], "%s: byte %zu of %zu is %02x, not %02x: %s", what, i, bytes,
               found[i] & 0xff, wanted[i] & 0xff, how);
}

static void check_type(MPI_Datatype type, const struct layout *layout, int count, const char *how) {
    int bytes = (int)layout->size * count, done = 0, taken = 0;
    char *ours = malloc((size_t)bytes + 1), *theirs = malloc((size_t)bytes + 1);
    struct memory source = memory_of(type, count, true), target = memory_of(type, count, false);
    struct memory wanted = memory_of(type, count, false);
    MPI_Pack(source.base, count, type, theirs, bytes, &done, MPI_COMM_WORLD);
    expect(done == bytes, "%d bytes were packed, not %d: %s", done, bytes, how);
    layout_pack(ours, source.base, layout, (size_t)count);
    same(ours, theirs, (size_t)bytes, "pack", how);
    if (layout->run) same(source.base, theirs, (size_t)bytes, "run", how);
    MPI_Unpack(theirs, bytes, &taken, wanted.base, count, type, MPI_COMM_WORLD);
    done = 0;
    MPI_Pack(wanted.base, count, type, ours, bytes, &done, MPI_COMM_WORLD);
    /* Else elements overlap: not to be received into. */
    if (memcmp(ours, theirs, (size_t)bytes) == 0) {
        layout_unpack(target.base, layout, (size_t)count, theirs, (size_t)bytes);
        same(target.all, wanted.all, target.bytes, "unpack", how);
    }
    free(source.all);
    free(target.all);
    free(wanted.all);
    free(ours);
    free(theirs);
}

static int check_random(void) {
    char how[1000];
    MPI_Datatype type = random_type(below(5), how, sizeof how);
    MPI_Count size, low, inner, lb, extent;
    MPI_Type_size_x(type, &size);
    MPI_Type_get_extent_x(type, &lb, &extent);
    MPI_Type_get_true_extent_x(type, &low, &inner);
    int checked = 0;
    if (size <= most_bytes && inner <= most_span && extent < most_span && extent > -most_span) {
        if (!is_named(type)) MPI_Type_commit(&type);
        const struct layout *layout = layout_of(type);
        expect(layout != NULL, "it does not compile: %s", how);
        expect(layout == layout_of(type), "it was compiled again: %s", how);
        expect((MPI_Count)layout->size == size && layout->extent == extent, "size or extent: %s",
               how);
        if (size > 0) {
            expect(layout->low == low && layout->high == low + inner,
                   "bounds [%td, %td), not [%lld, %lld): %s", layout->low, layout->high,
                   (long long)low, (long long)(low + inner), how);
            check_type(type, layout, 1, how);
            check_type(type, layout, 2 + below(3), how);
            checked = 1;
        }
    }
    drop(&type);
    return checked;
}

/* Open MPI 4 takes this one for 4 bytes from its address on, and sends those. */
static void check_contradiction(void) {
    MPI_Datatype type;
    MPI_Count low, inner;
    MPI_Type_create_hvector(4, 1, -1, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_true_extent_x(type, &low, &inner);
    const struct layout *layout = layout_of(type);
    expect(!layout || layout->low == low, "a vector backwards: from %lld", (long long)low);
    MPI_Type_free(&type);
}

/* A handle that is free is soon used again: the layout is that of the new type. */
static void check_lives(void) {
    MPI_Datatype type, dup, array;
    for (int i = 1; i < 100; i++) {
        MPI_Type_vector(i, 1, 2, MPI_INT, &type);
        MPI_Type_dup(type, &dup);
        expect(!type_committed(type), "a type that is not committed");
        MPI_Type_commit(&type);
        expect(type_committed(type), "a type that was committed since");
        const struct layout *layout = layout_of(type);
        expect(layout && layout->size == 4 * (size_t)i && layout == layout_of(type),
               "a vector of %d", i);
        MPI_Type_free(&type);
        MPI_Type_contiguous(3, dup, &type);
        MPI_Type_free(&dup);
        MPI_Type_commit(&type);
        layout = layout_of(type);
        expect(layout && layout->size == 12 * (size_t)i, "three vectors of %d", i);
        MPI_Type_free(&type);
    }
    expect(layout_of(MPI_DOUBLE) && layout_of(MPI_DOUBLE) == layout_of(MPI_DOUBLE) &&
               layout_of(MPI_DOUBLE)->run,
           "MPI_DOUBLE");
    const struct layout *pair = layout_of(MPI_LONG_DOUBLE_INT);
    expect(pair && pair->size == sizeof(long double) + sizeof(int) && !pair->run && pair->low == 0,
           "MPI_LONG_DOUBLE_INT");
    expect(layout_of(MPI_DATATYPE_NULL) == NULL, "no type has no layout");
    int size = 6, kind = MPI_DISTRIBUTE_BLOCK, argument = MPI_DISTRIBUTE_DFLT_DARG, ranks = 1;
    MPI_Type_create_darray(1, 0, 1, &size, &kind, &argument, &ranks, MPI_ORDER_C, MPI_INT, &array);
    MPI_Type_commit(&array);
    expect(!layout_of(array) && !layout_of(array), "distributed arrays do not compile");
    MPI_Type_free(&array);
}

/* Who goes by the handle of a type that is used often is told of its end, no others. */
static void check_ends(void) {
    expect(type_is_steady(MPI_INT) && type_is_steady(MPI_DATATYPE_NULL), "a given type");
    for (int uses = 1; uses < 1000; uses *= 10) {
        MPI_Datatype type;
        MPI_Type_contiguous(uses, MPI_INT, &type);
        MPI_Type_commit(&type);
        bool steady = false;
        for (int i = 0; i < uses; i++) steady = type_is_steady(type);
        expect(steady == (uses > 10), "%d uses", uses);
        uint32_t before = changes.calls;
        MPI_Type_free(&type);
        expect((changes.calls > before) == steady, "its end after %d uses", uses);
    }
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    expect(host_open(RTLD_DEFAULT), "the library lacks functions");
    expect(!layout_of(MPI_DOUBLE), "nothing compiles before the beginning");
    layouts_start();
    state = seed_from(count, words);
    int types = 0;
    check_lives();
    check_contradiction();
    check_ends();
    for (int i = 0; i < 6000; i++) types += check_random();
    expect(types > 2000, "only %d of 6000 types were worth it", types);
    layouts_finish();
    expect(!layout_of(MPI_DOUBLE), "nothing compiles after the end");
    printf("%d random types: as the MPI library packs them\n", types);
    MPI_Finalize();
    return 0;
}
