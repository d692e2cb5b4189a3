/* SPDX-License-Identifier: BSD-3-Clause */
/* layouts.c - random datatypes. Beside each call of a constructor stands what it means by the
 * standard's definition: at which byte every copy of the older type begins. The library is only
 * asked whether it agrees about the extent. */
#include <stdlib.h>
#include <string.h>
#include "field.h"

static const struct {
    MPI_Datatype type;
    long bytes, align;
} basics[] = {
    {MPI_BYTE, 1, 1},  {MPI_INT, 4, 4},     {MPI_DOUBLE, 8, 8},    {MPI_CHAR, 1, 1},
    {MPI_SHORT, 2, 2}, {MPI_FLOAT, 4, 4},   {MPI_LONG_LONG, 8, 8}, {MPI_C_DOUBLE_COMPLEX, 16, 8},
    {MPI_2INT, 8, 4},  {MPI_UINT64_T, 8, 8}};
enum { BASICS = sizeof basics / sizeof *basics };

struct unit unit_draw(struct dice *dice, bool simple) {
    struct unit unit = {.parts = simple || chance(dice, 70) ? 1 : 2 + below(dice, 2)};
    for (int i = 0; i < unit.parts; i++) {
        unit.part[i] = chance(dice, 50) ? below(dice, 3) : below(dice, BASICS);
        unit.bytes += basics[unit.part[i]].bytes;
    }
    return unit;
}

static struct layout *layout_new(void) {
    struct layout *layout = calloc(1, sizeof *layout);
    layout->type = MPI_DATATYPE_NULL;
    layout->made = true;
    return layout;
}

static void add_run(struct layout *layout, long at, long bytes) {
    struct run *last = layout->runs ? &layout->run[layout->runs - 1] : NULL;
    layout->low = !last || at < layout->low ? at : layout->low;
    layout->high = !last || at + bytes > layout->high ? at + bytes : layout->high;
    layout->bytes += bytes;
    if (last && last->at + last->bytes == at) {
        last->bytes += bytes;
        return;
    }
    if (layout->runs == layout->room) {
        layout->room = layout->room ? 2 * layout->room : 8;
        layout->run = realloc(layout->run, (size_t)layout->room * sizeof *layout->run);
    }
    layout->run[layout->runs++] = (struct run){at, bytes};
}

/* `count` copies of the older type, the first at byte `at`, the next ones an extent further each;
 * lb and extent grow. */
static void add(struct layout *layout, const struct layout *old, long at, long count) {
    for (long i = 0; i < count; i++, at += old->extent) {
        long ub = layout->lb + layout->extent, older = at + old->lb;
        bool first = !layout->runs;
        for (int run = 0; run < old->runs; run++)
            add_run(layout, at + old->run[run].at, old->run[run].bytes);
        ub = first || older + old->extent > ub ? older + old->extent : ub;
        layout->lb = first || older < layout->lb ? older : layout->lb;
        layout->extent = ub - layout->lb;
    }
}

/* The last step of each constructor: gives the older types back. */
static struct layout *done(struct layout *layout, struct layout *old) {
    layout_free(old);
    return layout;
}

static struct layout *resize(struct layout *layout, long lb, long extent) {
    MPI_Datatype old = layout->type;
    MPI_Type_create_resized(old, lb, extent, &layout->type);
    MPI_Type_free(&old);
    layout->lb = lb, layout->extent = extent;
    return layout;
}

struct layout *layout_of(MPI_Datatype type, int runs, const struct run *run, long extent) {
    struct layout *layout = layout_new();
    layout->type = type, layout->made = false;
    for (int i = 0; i < runs; i++) add_run(layout, run[i].at, run[i].bytes);
    layout->extent = extent;
    return layout;
}

/* One unit: a predefined type, or a struct whose members lie in any order. */
static struct layout *unit_layout(struct dice *dice, const struct unit *unit, bool plain) {
    if (unit->parts == 1) {
        long bytes = basics[unit->part[0]].bytes;
        return layout_of(basics[unit->part[0]].type, 1, &(struct run){0, bytes}, bytes);
    }
    struct layout *layout = layout_new();
    int order[3] = {0, 1, 2}, ones[3] = {1, 1, 1};
    MPI_Aint places[3] = {0};
    MPI_Datatype types[3] = {MPI_BYTE, MPI_BYTE, MPI_BYTE};
    long end = 0;
    if (!plain) shuffle(dice, order, unit->parts);
    for (int i = 0; i < unit->parts; i++) {
        long align = plain ? 1 : 8;
        places[order[i]] = end = (end + align - 1) / align * align;
        types[order[i]] = basics[unit->part[order[i]]].type;
        end += basics[unit->part[order[i]]].bytes + (plain ? 0 : 4 * below(dice, 3));
    }
    for (int i = 0; i < unit->parts; i++) add_run(layout, places[i], basics[unit->part[i]].bytes);
    MPI_Type_create_struct(unit->parts, ones, places, types, &layout->type);
    return resize(layout, 0, plain ? end : (end + 15) / 8 * 8);
}

static int divisor(struct dice *dice, int number) {
    int found = 1;
    for (int i = 1, seen = 0; i <= number; i++)
        if (number % i == 0 && !below(dice, ++seen)) found = i;
    return found;
}

static struct layout *build(struct dice *dice, const struct unit *unit, int units, int depth);

static struct layout *build_vector(struct dice *dice, const struct unit *unit, int units,
                                   int depth) {
    int blocks = divisor(dice, units), length = divisor(dice, units / blocks);
    struct layout *old = build(dice, unit, units / blocks / length, depth), *layout = layout_new();
    int stride = length + below(dice, 4);
    /* Open MPI gets the lower bound of stride -length wrong. */
    if (chance(dice, 15)) stride = -stride - 1;
    long bytes = stride * old->extent;
    if (chance(dice, 40)) {
        bytes += bytes > 0 ? 16 * below(dice, 3) : 0;
        MPI_Type_create_hvector(blocks, length, bytes, old->type, &layout->type);
    } else {
        MPI_Type_vector(blocks, length, stride, old->type, &layout->type);
    }
    for (int i = 0; i < blocks; i++) add(layout, old, i * bytes, length);
    return done(layout, old);
}

/* indexed, hindexed and indexed_block: blocks with gaps in any order, some of them empty. */
static struct layout *build_indexed(struct dice *dice, const struct unit *unit, int units,
                                    int depth) {
    enum { MOST = 12 };
    int blocks = 1 + below(dice, MOST), each = divisor(dice, units), left = units / each,
        order[MOST], lengths[MOST], places[MOST];
    struct layout *old = build(dice, unit, each, depth), *layout = layout_new();
    MPI_Aint bytes[MOST];
    bool same = left % blocks == 0 && chance(dice, 50);
    for (int i = 0, rest = left; i < blocks; i++) {
        lengths[i] = same ? left / blocks : i == blocks - 1 ? rest : below(dice, rest + 1);
        rest -= lengths[i];
        order[i] = i;
    }
    if (chance(dice, 50)) shuffle(dice, order, blocks);
    for (int i = 0, end = below(dice, 3); i < blocks; i++) {
        places[order[i]] = end;
        bytes[order[i]] = end * old->extent;
        end += lengths[order[i]] + below(dice, 3);
    }
    if (same && chance(dice, 50))
        MPI_Type_create_indexed_block(blocks, lengths[0], places, old->type, &layout->type);
    else if (chance(dice, 50)) MPI_Type_indexed(blocks, lengths, places, old->type, &layout->type);
    else MPI_Type_create_hindexed(blocks, lengths, bytes, old->type, &layout->type);
    for (int i = 0; i < blocks; i++) add(layout, old, bytes[i], lengths[i]);
    return done(layout, old);
}

static struct layout *build_struct(struct dice *dice, const struct unit *unit, int units,
                                   int depth) {
    int first = 1 + below(dice, units - 1), lengths[2] = {1, 1};
    struct layout *a = build(dice, unit, first, depth),
                  *b = build(dice, unit, units - first, depth), *layout = layout_new();
    bool swapped = chance(dice, 40);
    struct layout *lower = swapped ? b : a, *upper = swapped ? a : b;
    /* From where lower begins to where upper does. */
    long gap = (lower->high - upper->low + 7) / 8 * 8 + 8 * below(dice, 3);
    MPI_Aint places[2] = {swapped ? gap : 0, swapped ? 0 : gap};
    MPI_Datatype types[2] = {a->type, b->type};
    MPI_Type_create_struct(2, lengths, places, types, &layout->type);
    add(layout, a, places[0], 1);
    add(layout, b, places[1], 1);
    /* The standard leaves padding open. */
    resize(layout, layout->low - layout->low % 8, (layout->high - layout->low + 23) / 8 * 8);
    return done(done(layout, a), b);
}

static struct layout *build_subarray(struct dice *dice, const struct unit *unit, int units,
                                     int depth) {
    int rows = divisor(dice, units), columns = divisor(dice, units / rows);
    struct layout *old = build(dice, unit, units / rows / columns, depth), *layout = layout_new();
    int sub[2] = {rows, columns}, start[2] = {below(dice, 3), below(dice, 3)};
    int size[2] = {rows + start[0] + below(dice, 3), columns + start[1] + below(dice, 3)};
    bool fortran = chance(dice, 40);
    int fsub[2] = {columns, rows}, fstart[2] = {start[1], start[0]}, fsize[2] = {size[1], size[0]};
    MPI_Type_create_subarray(2, fortran ? fsize : size, fortran ? fsub : sub,
                             fortran ? fstart : start, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                             old->type, &layout->type);
    for (int i = 0; i < rows; i++)
        add(layout, old, ((start[0] + i) * size[1] + start[1]) * old->extent, columns);
    layout->lb = 0, layout->extent = size[0] * size[1] * old->extent;
    return done(layout, old);
}

static struct layout *build(struct dice *dice, const struct unit *unit, int units, int depth) {
    if (units == 1 && (!depth || chance(dice, 50))) return unit_layout(dice, unit, false);
    struct layout *layout, *old;
    switch (depth-- ? below(dice, 8) : 7) {
    case 0:
    case 1: return build_vector(dice, unit, units, depth);
    case 2:
    case 3: return build_indexed(dice, unit, units, depth);
    case 4:
        if (units > 1 && !quirk(Alltoall, NESTED)) return build_struct(dice, unit, units, depth);
        break;
    case 5: return build_subarray(dice, unit, units, depth);
    case 6:
        old = build(dice, unit, units, depth);
        layout = layout_new();
        MPI_Type_dup(old->type, &layout->type);
        add(layout, old, 0, 1);
        return done(resize(layout, old->lb - 8 * below(dice, 3),
                           (old->high - old->low + 7) / 8 * 8 + 8 * below(dice, 4)),
                    old);
    }
    old = unit_layout(dice, unit, false);
    layout = layout_new();
    MPI_Type_contiguous(units, old->type, &layout->type);
    add(layout, old, 0, units);
    return done(layout, old);
}

/* A column of a matrix with a column for each repeat: the next one begins a unit further, between
 * the elements of this one. */
static struct layout *build_column(struct dice *dice, const struct unit *unit, int units,
                                   long repeats) {
    struct layout *old = unit_layout(dice, unit, false), *layout = layout_new();
    int columns = (int)repeats + below(dice, 3);
    MPI_Type_vector(units, 1, columns, old->type, &layout->type);
    for (int i = 0; i < units; i++) add(layout, old, i * columns * old->extent, 1);
    return done(resize(layout, 0, old->extent), old);
}

/* Does the library pack and unpack two elements of this type as the standard says? If not it may
 * also write beside them. */
static bool library_knows(const struct layout *layout) {
    enum { MARGIN = 8192 };
    long begin = layout->low < 0 ? layout->low - MARGIN : -MARGIN,
         end = layout->high + layout->extent + MARGIN;
    size_t bytes = 2 * (size_t)layout->bytes, span = (size_t)(end - begin);
    char *from = calloc(1, span), *to = calloc(1, span), *packed = malloc(bytes + MARGIN),
         *expected = malloc(bytes);
    int at = 0;
    long done = 0;
    contents(expected, bytes, 1);
    for (long i = 0; i < 2; i++)
        for (int r = 0; r < layout->runs; done += layout->run[r++].bytes)
            memcpy(from - begin + i * layout->extent + layout->run[r].at, expected + done,
                   (size_t)layout->run[r].bytes);
    MPI_Pack(from - begin, 2, layout->type, packed, (int)bytes, &at, MPI_COMM_SELF);
    bool right = at == (int)bytes && !memcmp(packed, expected, bytes);
    at = 0;
    MPI_Unpack(expected, (int)bytes, &at, to - begin, 2, layout->type, MPI_COMM_SELF);
    right &= !memcmp(from, to, span);
    free(from), free(to), free(packed), free(expected);
    return right;
}

static struct layout *draw(struct dice *dice, const struct unit *unit, int units, long repeats,
                           bool plain) {
    if (!plain && repeats > 0 && repeats * units < 1 << 20 && chance(dice, 15))
        return build_column(dice, unit, units, repeats);
    if (!plain) return build(dice, unit, units, 1 + below(dice, 2));
    struct layout *old = unit_layout(dice, unit, true), *layout;
    if (units == 1) return old;
    layout = layout_new();
    MPI_Type_contiguous(units, old->type, &layout->type);
    add(layout, old, 0, units);
    return done(layout, old);
}

struct layout *layout_draw(struct dice *dice, const struct unit *unit, int units, long repeats,
                           bool plain) {
    struct layout *layout = draw(dice, unit, units, repeats, plain);
    MPI_Aint lb, extent;
    MPI_Type_get_extent(layout->type, &lb, &extent);
    if (lb != layout->lb || extent != layout->extent || layout->bytes != units * unit->bytes)
        failed(
            "the checker's own mistake: a type of %d units has %ld bytes, lb %ld, extent %ld; the library says %ld, %ld",
            units, layout->bytes, layout->lb, layout->extent, (long)lb, (long)extent);
    if (!layout->made) return layout;
    MPI_Type_commit(&layout->type);
    if (plain || library_knows(layout)) return layout;
    tally.refused++;
    layout_free(layout);
    return layout_draw(dice, unit, units, repeats, true);
}

void layout_free(struct layout *layout) {
    if (!layout) return;
    if (layout->made) MPI_Type_free(&layout->type);
    free(layout->run);
    free(layout);
}
