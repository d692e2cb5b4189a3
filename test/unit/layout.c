/* SPDX-License-Identifier: BSD-3-Clause */
/* layout - drafts and copies against lists that have the place of every single byte: random types
 * made by the same steps, copied whole and in part from any to any other, in memory that ends where
 * the data end; transpositions of sizes that are no multiple of a tile; and the simplest form of
 * types that every program has. */
#include "copy/grid.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A type both ways: as a layout, and as the place of each byte of an element, in order. */
enum { most_bytes = 20000 };
struct type {
    struct draft draft;
    ptrdiff_t *place;
    size_t size;
    ptrdiff_t extent;
    struct layout *layout;
};

static uint64_t random_state;

static size_t below(size_t bound) { return draw_below(&random_state, (uint32_t)bound); }

static struct type nothing(void) {
    return (struct type){.place = malloc(most_bytes * sizeof(ptrdiff_t))};
}

static void add_run(struct type *type, ptrdiff_t at, size_t bytes) {
    draft_run(&type->draft, at, bytes);
    for (size_t i = 0; i < bytes; i++) type->place[type->size++] = at + (ptrdiff_t)i;
}

static void add_copies(struct type *type, const struct type *part, ptrdiff_t at, size_t count,
                       ptrdiff_t step) {
    draft_repeat(&type->draft, &part->draft, at, count, step);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < part->size; k++)
            type->place[type->size++] = at + (ptrdiff_t)i * step + part->place[k];
}

static void drop(struct type *type) {
    draft_drop(&type->draft);
    free(type->layout);
    free(type->place);
}

/* The first byte and the end of count elements. */
static void span(const struct type *type, size_t count, ptrdiff_t *low, ptrdiff_t *high) {
    *low = *high = type->size && count ? type->place[0] : 0;
    for (size_t i = 0; i < type->size; i++)
        for (size_t last = 0; last < 2 && count > 0; last++) {
            ptrdiff_t at = type->place[i] + (ptrdiff_t)(last ? count - 1 : 0) * type->extent;
            if (at < *low) *low = at;
            if (at >= *high) *high = at + 1;
        }
}

static ptrdiff_t place_of(const struct type *type, size_t at) {
    return (ptrdiff_t)(at / type->size) * type->extent + type->place[at % type->size];
}

/* Freezes the draft; checks what the layout says about itself. */
static void finish(struct type *type) {
    struct layout *made = draft_finish(&type->draft, type->extent);
    expect(made != NULL, "no layout of %zu bytes", type->size);
    size_t bytes = layout_footprint(made);
    type->layout = malloc(bytes); /* another address: there are no pointers in it */
    memcpy(type->layout, made, bytes);
    free(made);
    ptrdiff_t low, high;
    span(type, 1, &low, &high);
    struct layout *layout = type->layout;
    expect(layout->size == type->size && layout->extent == type->extent, "size %zu, not %zu",
           layout->size, type->size);
    expect(layout->low == low && layout->high == high, "bounds %td %td, not %td %td", layout->low,
           layout->high, low, high);
    bool run = (ptrdiff_t)type->size == type->extent;
    for (size_t i = 0; i < type->size; i++) run = run && type->place[i] == (ptrdiff_t)i;
    expect(layout->run == run, "%zu bytes: run is %d", type->size, layout->run);
}

static struct type random_type(int depth) {
    static const size_t lengths[] = {1, 2, 3, 4, 4, 8, 8, 8, 12, 16, 16, 24, 40, 48, 64, 100, 300};
    struct type type = nothing();
    if (depth == 0) {
        add_run(&type, below(4) ? 0 : (ptrdiff_t)below(20) - 10,
                lengths[below(sizeof lengths / sizeof *lengths)]);
        type.extent = (ptrdiff_t)(type.size + (below(2) ? 0 : below(9)));
        return type;
    }
    size_t parts = below(3) ? 1 : 1 + below(4);
    ptrdiff_t at = 0;
    struct type part = random_type(depth - 1);
    for (size_t i = 0; i < parts; i++) {
        ptrdiff_t low, high;
        span(&part, 1, &low, &high);
        size_t count = below(8) ? 1 + below(below(2) ? 4 : 20) : 0;
        while (count * part.size + type.size > most_bytes) count /= 2;
        ptrdiff_t step = part.extent;
        if (below(2)) step = high - low + (below(2) ? (ptrdiff_t)below(30) : 0);
        if (below(8) == 0) step = -step;
        if (below(30) == 0) step = 0;
        add_copies(&type, &part, at, count, step);
        at += (below(2) ? (ptrdiff_t)count : 1) * step + (below(2) ? 0 : (ptrdiff_t)below(40) - 10);
        if (below(2)) {
            drop(&part);
            part = random_type((int)below((size_t)depth));
        }
    }
    drop(&part);
    ptrdiff_t low, high;
    span(&type, 1, &low, &high);
    type.extent = below(3)   ? high - low
                  : below(2) ? high
                             : (ptrdiff_t)type.size + (ptrdiff_t)below(20) - 5;
    return type;
}

/* Memory with exactly the bytes of count elements; *base is the address of the first. */
static char *memory_for(const struct type *type, size_t count, char **base, size_t *bytes) {
    ptrdiff_t low, high;
    span(type, count, &low, &high);
    *bytes = (size_t)(high - low);
    char *memory = malloc(*bytes);
    *base = memory - low;
    return memory;
}

static bool overlaps(const struct type *type, size_t count) {
    char *base, *memory;
    size_t bytes;
    memory = memory_for(type, count, &base, &bytes);
    memset(memory, 0, bytes);
    bool twice = false;
    for (size_t i = 0; i < type->size * count; i++) twice = twice || base[place_of(type, i)]++ > 0;
    free(memory);
    return twice;
}

static void fill(char *memory, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) memory[i] = (char)draw(&random_state);
}

static void same(const char *found, const char *wanted, size_t bytes, const char *what) {
    for (size_t i = 0; i < bytes; i++)
        expect(found[i] == wanted[i], "%s: byte %zu of %zu is %02x, not %02x", what, i, bytes,
               found[i] & 0xff, wanted[i] & 0xff);
}

static int in_pieces; /* copies that took more than one */
static struct copier random_copier(void) {
    return (struct copier){.kernel = below(2) ? KERNEL_nt : KERNEL_plain,
                           .plain = below(2) ? 0 : below(5000)};
}
static void check_copy(const struct type *to, size_t to_count, const struct type *from,
                       size_t from_count) {
    char *target, *source, *to_base, *from_base;
    size_t to_bytes, from_bytes, bytes = to->size * to_count;
    if (from->size * from_count < bytes) bytes = from->size * from_count;
    target = memory_for(to, to_count, &to_base, &to_bytes);
    source = memory_for(from, from_count, &from_base, &from_bytes);
    char *wanted = malloc(to_bytes);
    fill(source, from_bytes);
    memset(target, 0xa5, to_bytes);
    memset(wanted, 0xa5, to_bytes);
    for (size_t i = 0; i < bytes; i++)
        wanted[to_base - target + place_of(to, i)] = from_base[place_of(from, i)];
    struct copier copier = random_copier();
    size_t piece = below(2) ? SIZE_MAX : 0; /* whole, or in pieces */
    if (piece)
        layout_copy(to_base, to->layout, to_count, from_base, from->layout, from_count, &copier);
    while (layout_copy_piece(to_base, to->layout, to_count, from_base, from->layout, from_count,
                             &copier, piece))
        piece++, in_pieces++;
    same(target, wanted, to_bytes, "copy");
    free(wanted);
    free(source);
    free(target);
}

/* Both ways, whole and a part. */
static void check_packing(const struct type *type, size_t count, bool unpack) {
    char *memory, *base;
    size_t bytes, all = type->size * count, at = below(all + 3), some = below(all + 3);
    memory = memory_for(type, count, &base, &bytes);
    if (below(2)) at = 0, some = unpack && below(2) ? below(all + 1) : all;
    bool whole = at == 0 && (unpack || some == all);
    size_t now = at >= all ? 0 : all - at < some ? all - at : some;
    char *packed = malloc(now), *wanted = malloc(bytes > now ? bytes : now);
    if (unpack) {
        fill(packed, now);
        memset(memory, 0xa5, bytes);
        memset(wanted, 0xa5, bytes);
        for (size_t i = 0; i < now; i++) wanted[base - memory + place_of(type, at + i)] = packed[i];
        if (whole) layout_unpack(base, type->layout, count, packed, some);
        else layout_unpack_part(base, type->layout, count, packed, at, some);
        same(memory, wanted, bytes, whole ? "unpack" : "unpack_part");
    } else {
        fill(memory, bytes);
        for (size_t i = 0; i < now; i++) wanted[i] = base[place_of(type, at + i)];
        if (whole) layout_pack(packed, base, type->layout, count);
        else layout_pack_part(packed, base, type->layout, count, at, some);
        same(packed, wanted, now, whole ? "pack" : "pack_part");
    }
    free(wanted);
    free(packed);
    free(memory);
}

static void check_random(void) {
    struct type to = random_type((int)below(5)),
                from = below(4) ? random_type((int)below(5)) : nothing();
    if (from.size == 0) { /* the target's bytes in other places, as in programs: shapes that fit */
        add_copies(&from, &to, (ptrdiff_t)below(50), 1, 0);
        from.extent = to.extent + (ptrdiff_t)below(100);
    }
    finish(&to);
    finish(&from);
    size_t to_count = 1 + below(below(2) ? 3 : 12), from_count = 1 + below(3);
    if (from.size > 0 && below(4)) from_count = (to.size * to_count + from.size - 1) / from.size;
    while (from_count * from.size > 4 * most_bytes) from_count /= 2;
    check_packing(&from, from_count, false);
    if (!overlaps(&to, to_count)) {
        check_packing(&to, to_count, true);
        check_copy(&to, to_count, &from, from_count);
    }
    drop(&to);
    drop(&from);
}

/* An array of up to four dimensions with some of its elements, its axes in any order on both sides,
 * any two of them swapped. */
static struct type array(const size_t *counts, const size_t *order, size_t dims, size_t bytes) {
    ptrdiff_t steps[4], step = (ptrdiff_t)bytes;
    /* order[k]: the axis that is k-th from the outside in memory. */
    for (size_t k = dims; k-- > 0;) {
        steps[order[k]] = step;
        step *= (ptrdiff_t)(counts[order[k]] + (below(2) ? 0 : below(5)));
    }
    struct type type = nothing();
    add_run(&type, 0, bytes);
    for (size_t k = dims; k-- > 0;) { /* the signature goes by the axes' numbers */
        struct type more = nothing();
        add_copies(&more, &type, (ptrdiff_t)below(3) * steps[k], counts[k],
                   below(9) ? steps[k] : -steps[k]);
        drop(&type);
        type = more;
    }
    type.extent = step;
    finish(&type);
    return type;
}

static void shuffled(size_t *order, size_t dims) {
    for (size_t k = 0; k < dims; k++) order[k] = k;
    for (size_t k = dims; k-- > 1;) {
        size_t other = below(k + 1), kept = order[k];
        order[k] = order[other];
        order[other] = kept;
    }
}

static void check_array(void) {
    static const size_t lengths[] = {1, 2, 4, 8, 8, 12, 16, 16, 20, 24, 32, 48, 64, 72, 1024, 2000};
    size_t bytes = lengths[below(sizeof lengths / sizeof *lengths)], dims = 1 + below(4),
           most = most_bytes / bytes;
    size_t counts[4], order[4];
    for (size_t k = 0; k < dims; k++) {
        counts[k] = 1 + below(most < 70 ? most : 70);
        most /= counts[k];
    }
    shuffled(order, dims);
    struct type to = array(counts, order, dims, bytes);
    if (below(2)) shuffled(order, dims);
    struct type from = array(counts, order, dims, bytes);
    expect(to.layout->nests == 1 && from.layout->nests == 1, "an array of %u nests",
           to.layout->nests);
    check_copy(&to, 1, &from, 1);
    check_packing(&to, 1, true);
    check_packing(&from, 1, false);
    drop(&to);
    drop(&from);
}

/* Is this the layout's text? Nests are written place:bytes, then count*step of their loops. */
static void simplest(struct type *type, ptrdiff_t extent, const char *text) {
    char found[256] = "";
    int at = 0;
    type->extent = extent;
    finish(type);
    for (uint32_t k = 0; k < type->layout->nests && at < 200; k++) {
        const struct nest *nest = &type->layout->nest[k];
        at += snprintf(found + at, sizeof found - (size_t)at, "%s%td:%zu", k ? " " : "", nest->at,
                       nest->bytes);
        for (uint32_t l = 0; l < nest->levels; l++)
            at += snprintf(found + at, sizeof found - (size_t)at, ",%zu*%td", nest->loop[l].count,
                           nest->loop[l].step);
    }
    expect(strcmp(found, text) == 0, "[%s] should be [%s]", found, text);
    drop(type);
}

static struct type run_of(size_t bytes) {
    struct type type = nothing();
    add_run(&type, 0, bytes);
    return type;
}

static void repeat(struct type *type, ptrdiff_t at, size_t count, ptrdiff_t step) {
    struct type more = nothing();
    add_copies(&more, type, at, count, step);
    drop(type);
    *type = more;
}

static void runs_at(struct type *type, size_t bytes, const ptrdiff_t *at, size_t count) {
    for (size_t i = 0; i < count; i++) add_run(type, at[i], bytes);
}

static void check_simplest(void) {
    struct type type = run_of(8); /* whole rows of a plane are one run, the planes' loop stays */
    repeat(&type, 0, 4, 8);
    repeat(&type, 64, 6, 32);
    repeat(&type, 0, 2, 1000);
    simplest(&type, 2000, "64:192,2*1000");
    type = run_of(8); /* a column of a column is a column */
    repeat(&type, 0, 4, 32);
    repeat(&type, 0, 3, 128);
    repeat(&type, 0, 1, 7);
    simplest(&type, 8, "0:8,12*32");
    static const ptrdiff_t regular[] = {10, 20, 30, 40, 110, 120, 130, 140, 210, 220, 230, 240};
    type = nothing();
    runs_at(&type, 4, regular, 12);
    simplest(&type, 300, "10:4,3*100,4*10");
    static const ptrdiff_t touching[] = {0, 4, 8, 20, 24, 28};
    type = nothing();
    runs_at(&type, 4, touching, 6);
    simplest(&type, 32, "0:12,2*20");
    struct type pair = run_of(4);
    repeat(&pair, 0, 2, 8);
    type = nothing(); /* a run before, and loops one behind the other */
    add_run(&type, -8, 4);
    add_copies(&type, &pair, 0, 1, 0);
    add_copies(&type, &pair, 16, 1, 0);
    simplest(&type, 40, "-8:4,5*8");
    type = nothing();
    add_copies(&type, &pair, 0, 1, 0);
    repeat(&pair, 0, 3, 16);
    add_copies(&type, &pair, 16, 1, 0);
    simplest(&type, 40, "0:4,8*8");
    drop(&pair);
    type = nothing();
    static const ptrdiff_t swapped[] = {4, 0};
    runs_at(&type, 4, swapped, 2);
    simplest(&type, 8, "4:4,2*-4");
    type = nothing();
    simplest(&type, 0, "");
}

static void check_limits(void) {
    struct draft draft = {0}, part = {0};
    for (int i = 0; i <= DRAFT_NESTS; i++)
        draft_run(&draft, (ptrdiff_t)i * i * 8, 1 + (size_t)i % 2);
    expect(draft.failed && draft_finish(&draft, 1) == NULL, "%u nests are too many",
           DRAFT_NESTS + 1);
    draft_run(&part, 0, 8);
    draft_run(&part, 12, 4);
    /* Never more than a few nests, but that many turns take for ever. */
    draft_repeat(&draft, &part, 0, SIZE_MAX / 32, 16);
    expect(draft.failed && draft_finish(&draft, 1) == NULL, "so many turns are too many");
    draft_drop(&part);
    draft_repeat(&draft, &part, 0, SIZE_MAX / 32, 16);
    struct layout *empty = draft_finish(&draft, 0);
    expect(empty && empty->nests == 0 && empty->size == 0, "nothing often is nothing");
    layout_copy(NULL, empty, 3, NULL, empty, 4, &(struct copier){0});
    layout_pack(NULL, NULL, empty, 5);
    free(empty);
}

/* Data onto itself are not even written: peers may be reading them. The layouts are equal, not the
 * same. */
static void check_in_place(void) {
    struct type type = run_of(8), copy;
    repeat(&type, 0, 70, 15);
    type.extent = 1200;
    copy = nothing();
    add_copies(&copy, &type, 0, 1, 0);
    copy.extent = type.extent;
    finish(&type);
    finish(&copy);
    char *memory = guarded(4096);
    expect(mprotect(memory, 4096, PROT_READ) == 0, "mprotect");
    layout_copy(memory, type.layout, 3, memory, copy.layout, 3, &(struct copier){0});
    drop(&type);
    drop(&copy);
}

/* The plain bytes of a hybrid copy are counted over all runs, short ones included. */
static void check_hybrid(void) {
    static char to[10000], from[10000];
    static const struct {
        size_t bytes, plain, left;
    } cases[] = {{2000, 10000, 4000}, {2000, 6000, 0}, {2000, 3000, 0}, {1999, 5997, 0},
                 {500, 1700, 200},    {500, 1200, 0},  {2000, 0, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct grid_box target = {to, cases[k].bytes, 1, {{3, 3000}}},
                        source = {from, cases[k].bytes, 1, {{3, 2500}}};
        struct copier copier = {.kernel = KERNEL_nt, .plain = cases[k].plain};
        expect(box_copy(&target, &source, &copier) && copier.plain == cases[k].left,
               "%zu bytes of %zu are left, not %zu", copier.plain, cases[k].plain, cases[k].left);
    }
}

int main(int count, char **words) {
    random_state = seed_from(count, words);
    check_simplest();
    check_limits();
    check_in_place();
    check_hybrid();
    for (int i = 0; i < 2500; i++) check_random();
    for (int i = 0; i < 1000; i++) check_array();
    printf("types that were drawn and arrays in all orders: every byte; %d pieces\n", in_pieces);
    return in_pieces < 20;
}
