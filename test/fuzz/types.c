/* SPDX-License-Identifier: BSD-3-Clause */
/* types - any datatypes, compiled (src/mpi/compile.c) and packed, unpacked and copied (src/copy),
 * against the list that has the place of each of their bytes. The MPI library is a stand-in,
 * library.c. */
#include "library.h"

#include <stdlib.h>
#include <string.h>

static ptrdiff_t place_of(const struct made *type, size_t at) {
    return (ptrdiff_t)(at / type->size) * (type->ub - type->lb) + type->place[at % type->size];
}

/* The first byte of count elements, and the end of the last; 0, 0: no data. */
static void span(const struct made *type, size_t count, ptrdiff_t *low, ptrdiff_t *high) {
    *low = PTRDIFF_MAX, *high = PTRDIFF_MIN;
    for (size_t i = 0; i < type->size * count; i++) {
        ptrdiff_t at = place_of(type, i);
        if (at < *low) *low = at;
        if (at >= *high) *high = at + 1;
    }
    if (type->size * count == 0) *low = *high = 0;
}

/* Memory with just the bytes of count elements. */
struct memory {
    char *bytes, *base; /* base: the address of the first element */
    size_t size;
};

static struct memory memory_for(const struct made *type, size_t count, int value) {
    ptrdiff_t low, high;
    span(type, count, &low, &high);
    struct memory memory = {.size = (size_t)(high - low)};
    memory.bytes = malloc(memory.size + !memory.size);
    must(memory.bytes != NULL, "no memory");
    memory.base = (char *)((uintptr_t)memory.bytes - (uintptr_t)low);
    for (size_t i = 0; i < memory.size; i++)
        memory.bytes[i] = (char)(value >= 0 ? value : (int)(i * 31 + (i >> 8) * 7 + 3));
    return memory;
}

static char *byte_of(const struct memory *memory, const struct made *type, size_t at) {
    return (char *)((uintptr_t)memory->base + (uintptr_t)place_of(type, at));
}

static void same(const struct memory *found, const struct memory *wanted, const char *what) {
    for (size_t i = 0; i < found->size; i++)
        must(found->bytes[i] == wanted->bytes[i], "%s: byte %zu of %zu is %02x, not %02x", what, i,
             found->size, found->bytes[i] & 0xff, wanted->bytes[i] & 0xff);
    free(found->bytes);
    free(wanted->bytes);
}

static void check_layout(const struct made *type, const struct layout *layout) {
    ptrdiff_t low, high, extent = type->ub - type->lb;
    span(type, 1, &low, &high);
    must(layout->size == type->size && layout->extent == extent, "%zu bytes, extent %td",
         layout->size, layout->extent);
    must(layout->low == low && layout->high == high, "bounds %td %td, not %td %td", layout->low,
         layout->high, low, high);
    bool run = extent == (ptrdiff_t)type->size;
    for (size_t i = 0; i < type->size; i++) run = run && type->place[i] == (ptrdiff_t)i;
    must(layout->run == run, "run is %d", layout->run);
}

static bool overlaps(const struct made *type, size_t count) {
    struct memory memory = memory_for(type, count, 0);
    bool twice = false;
    for (size_t i = 0; i < type->size * count && !twice; i++)
        twice = (*byte_of(&memory, type, i))++ > 0;
    free(memory.bytes);
    return twice;
}

/* Packs or unpacks the bytes [at, at + some) of the stream. */
static void check_part(const struct made *type, const struct layout *layout, size_t count,
                       size_t at, size_t some, bool unpack) {
    size_t all = type->size * count, now = at >= all ? 0 : all - at < some ? all - at : some;
    struct made bytes = {.size = 1, .ub = 1, .place = (ptrdiff_t[]){0}};
    const struct made *to = unpack ? type : &bytes, *from = unpack ? &bytes : type;
    struct memory source = memory_for(from, unpack ? now : count, -1),
                  found = memory_for(to, unpack ? count : now, 0xa5),
                  wanted = memory_for(to, unpack ? count : now, 0xa5);
    for (size_t i = 0; i < now; i++)
        *byte_of(&wanted, to, unpack ? at + i : i) = *byte_of(&source, from, unpack ? i : at + i);
    if (unpack && at == 0) layout_unpack(found.base, layout, count, source.base, some);
    else if (unpack) layout_unpack_part(found.base, layout, count, source.base, at, some);
    else if (at == 0 && now == all) layout_pack(found.base, source.base, layout, count);
    else layout_pack_part(found.base, source.base, layout, count, at, some);
    same(&found, &wanted, unpack ? "unpack" : "pack");
    free(source.bytes);
}

enum { most_far = 1 << 14 };

struct side {
    const struct made *type;
    const struct layout *layout;
    size_t count;
};

static void check_copy(const struct side *to, const struct side *from, const struct copier *copier,
                       bool whole) {
    size_t bytes = to->type->size * to->count, there = from->type->size * from->count;
    struct memory source = memory_for(from->type, from->count, -1),
                  found = memory_for(to->type, to->count, 0xa5),
                  wanted = memory_for(to->type, to->count, 0xa5);
    for (size_t i = 0; i < bytes && i < there; i++)
        *byte_of(&wanted, to->type, i) = *byte_of(&source, from->type, i);
    if (whole)
        layout_copy(found.base, to->layout, to->count, source.base, from->layout, from->count,
                    copier);
    for (size_t piece = 0;
         !whole && layout_copy_piece(found.base, to->layout, to->count, source.base, from->layout,
                                     from->count, copier, piece);)
        piece++;
    same(&found, &wanted, "copy");
    free(source.bytes);
}

static struct side some_side(struct food *food, MPI_Datatype type) {
    struct side side = {made_of(type), layout_of(type), 1 + eat(food, 8)};
    must((side.layout != NULL) == !side.type->unknown, "compiled: %d", side.layout != NULL);
    if (side.layout) check_layout(side.type, side.layout);
    if (side.type->far > most_far) side.layout = NULL; /* too much memory */
    return side;
}

static void check_packing(struct food *food, const struct side *side, bool unpack) {
    size_t all = side->type->size * side->count;
    check_part(side->type, side->layout, side->count, 0, all, unpack);
    size_t at = eat(food, all + 3), some = eat(food, all + 3);
    check_part(side->type, side->layout, side->count, at, some, unpack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct food food = {data, size};
    struct copier copier = {.kernel = eat(&food, 2) ? KERNEL_nt : KERNEL_plain};
    copier.plain = eat(&food, 2) ? 0 : eat(&food, 5000);
    bool whole = eat(&food, 2);
    library_begin();
    struct side to = some_side(&food, some_type(&food)), from = some_side(&food, some_type(&food));
    if (from.layout) check_packing(&food, &from, false);
    if (to.layout && !overlaps(to.type, to.count)) {
        check_packing(&food, &to, true);
        if (from.layout) check_copy(&to, &from, &copier, whole);
    }
    library_end();
    return 0;
}
