/* SPDX-License-Identifier: BSD-3-Clause */
/* layout - copies from one layout to another, in the order of the signatures. A cursor walks each
 * side's stream of bytes. At their positions the two cursors take the largest regular pieces
 * (boxes) that match in size. The boxes are copied as one grid (grid.c), in an order that suits the
 * caches. Boxes that do not match, and types of many small pieces, are copied run by run. */
#include "base/base.h"
#include "copy/grid.h"

const struct layout layout_bytes = {
    .size = 1, .extent = 1, .high = 1, .run = true, .nests = 1, .nest = {{.at = 0, .bytes = 1}}};

static const struct copier plainly = {.kernel = KERNEL_plain, .plain = SIZE_MAX};

/* Bytes. Smaller nests are not worth making a box (some 50 ns). Not measured. */
enum { least_box = 256 };

/* Bytes of a piece. Shorter pieces cost more than they save by sharing pages with other blocks'
 * pieces. Xeon (Sapphire Rapids, virtual, 4 cores), November 2026, a 256^3 complex grid: 256 bytes
 * to 4 KiB make no difference apart from the cost per piece. */
enum { least_piece = 4096 };

struct cursor {
    const struct layout *layout;
    /* Address of the current element; for a layout with one nest, of the first element. */
    char *element;
    uint32_t nest; /* number of the current nest */
    /* The whole current nest; for a layout with one nest, all elements. */
    struct grid_box box;
    size_t index[BOX_LEVELS]; /* completed turns of the box's loops */
    char *run;                /* address of the current run */
    size_t done;              /* bytes passed in it, less than box.bytes */
};

size_t layout_footprint(const struct layout *layout) {
    return sizeof *layout + layout->nests * sizeof *layout->nest;
}

HOT static void layout_enter(struct cursor *cursor) {
    const struct nest *nest = &cursor->layout->nest[cursor->nest];
    struct grid_box *box = &cursor->box;
    cursor->run = box->at = away_from(cursor->element, nest->at);
    cursor->done = 0;
    box->bytes = nest->bytes;
    box->levels = nest->levels;
    for (uint32_t l = 0; l < nest->levels; l++) {
        box->loop[l] = nest->loop[l];
        cursor->index[l] = 0;
    }
}

/* a / b without a division in the usual cases, 0 and 1. */
static inline size_t turns_of(size_t a, size_t b) {
    if (a < b) return 0;
    return a < 2 * b ? 1 : a / b;
}

/* Advances by `runs` runs, which end at the latest with the nest. After a nest comes the next one;
 * after an element's last nest, the next element's first. */
HOT static void next_runs(struct cursor *cursor, size_t runs) {
    for (uint32_t l = cursor->box.levels; l-- > 0 && runs > 0;) {
        struct loop loop = cursor->box.loop[l];
        size_t index = cursor->index[l] + runs;
        runs = turns_of(index, loop.count);
        index -= runs * loop.count;
        cursor->run += ((ptrdiff_t)index - (ptrdiff_t)cursor->index[l]) * loop.step;
        cursor->index[l] = index;
    }
    if (runs == 0) return;
    if (++cursor->nest == cursor->layout->nests) {
        cursor->nest = 0;
        cursor->element = away_from(cursor->element, cursor->layout->extent);
    }
    layout_enter(cursor);
}

/* Advances by bytes that lie in this nest. */
HOT static void pass(struct cursor *cursor, size_t bytes) {
    size_t done = cursor->done + bytes, run = cursor->box.bytes;
    size_t runs = turns_of(done, run);
    cursor->done = done - runs * run;
    if (runs > 0) next_runs(cursor, runs);
}

/* The nest that contains byte `at` of an element's data. */
static uint32_t nest_of(const struct layout *layout, size_t at) {
    uint32_t first = 0, end = layout->nests;
    while (end - first > 1) {
        uint32_t middle = first + (end - first) / 2;
        if (layout->nest[middle].before <= at) first = middle;
        else end = middle;
    }
    return first;
}

/* A cursor at byte `at` of the stream of count elements, which must have more than `at` bytes. */
HOT static struct cursor layout_start(const struct layout *layout, char *memory, size_t count,
                                      size_t at) {
    struct cursor cursor;
    cursor.layout = layout;
    cursor.element = memory;
    cursor.nest = 0;
    if (layout->nests > 1) {
        cursor.element = away_from(memory, (ptrdiff_t)(at / layout->size) * layout->extent);
        at %= layout->size;
        cursor.nest = nest_of(layout, at);
        at -= layout->nest[cursor.nest].before;
    }
    layout_enter(&cursor);
    if (layout->run) {
        cursor.box.bytes *= count;
    } else if (layout->nests == 1 && count > 1) {
        struct grid_box *box = &cursor.box;
        memmove(box->loop + 1, box->loop, box->levels * sizeof *box->loop);
        box->loop[0] = (struct loop){count, layout->extent};
        cursor.index[box->levels++] = 0;
    }
    pass(&cursor, at);
    return cursor;
}

/* The largest box that begins at the cursor. */
HOT static struct grid_box front(const struct cursor *cursor) {
    const struct grid_box *whole = &cursor->box;
    struct grid_box box;
    box.at = cursor->run + cursor->done;
    box.bytes = whole->bytes - cursor->done;
    box.levels = 0;
    if (cursor->done > 0) return box;
    uint32_t first = whole->levels; /* the loops inside the outermost one are at their beginning */
    while (first > 0 && (first == whole->levels || cursor->index[first] == 0)) first--;
    for (uint32_t l = first; l < whole->levels; l++) box.loop[box.levels++] = whole->loop[l];
    if (box.levels > 0) box.loop[0].count -= cursor->index[first];
    return box;
}

HOT static void run_by_run(struct cursor *to, struct cursor *from, size_t bytes,
                           struct copier *copier) {
    while (bytes > 0) {
        size_t now = to->box.bytes - to->done, other = from->box.bytes - from->done;
        if (other < now) now = other;
        if (bytes < now) now = bytes;
        move_run(copier, to->run + to->done, from->run + from->done, now);
        pass(to, now);
        pass(from, now);
        bytes -= now;
    }
}

static bool in_crumbs(const struct layout *layout) {
    return layout->nests > 1 && layout->size / layout->nests < least_box;
}

HOT static void stream(struct cursor *to, struct cursor *from, size_t bytes,
                       const struct copier *how) {
    struct copier copier = how->kernel == KERNEL_plain ? plainly : *how;
    if (in_crumbs(to->layout) || in_crumbs(from->layout)) {
        run_by_run(to, from, bytes, &copier);
        return;
    }
    while (bytes > 0) {
        struct grid_box target = front(to), source = front(from);
        size_t now = box_cut(&target, bytes), other;
        while ((other = box_cut(&source, now)) != now) now = box_cut(&target, other);
        if (box_copy(&target, &source, &copier)) {
            pass(to, now);
            pass(from, now);
        } else {
            run_by_run(to, from, now, &copier);
        }
        bytes -= now;
    }
}

HOT void layout_copy(char *to, const struct layout *to_layout, size_t to_count, const char *from,
                     const struct layout *from_layout, size_t from_count,
                     const struct copier *copier) {
    size_t bytes = from_layout->size * from_count, room = to_layout->size * to_count;
    if (room < bytes) bytes = room;
    if (bytes == 0) return;
    if (to_layout->run && from_layout->run) {
        copy_block(copier, to, from, bytes);
        return;
    }
    if (to == from) { /* peers may be reading what is in place */
        size_t footprint = layout_footprint(to_layout);
        if (footprint == layout_footprint(from_layout) &&
            memcmp(to_layout, from_layout, footprint) == 0)
            return;
    }
    struct cursor target = layout_start(to_layout, to, to_count, 0);
    struct cursor source = layout_start(from_layout, (char *)(uintptr_t)from, from_count, 0);
    stream(&target, &source, bytes, copier);
    if (copier->kernel != KERNEL_plain) copy_fence(); /* one for all runs */
}

/* Bytes of a piece: if possible a whole number of turns of the layout's loops. */
static size_t piece_bytes(const struct layout *layout) {
    const struct nest *nest = layout->nest;
    size_t bytes = nest->bytes;
    for (uint32_t l = nest->levels; l-- > 0 && bytes < least_piece;) {
        size_t turns = (least_piece + bytes - 1) / bytes;
        bytes *= turns < nest->loop[l].count ? turns : nest->loop[l].count;
    }
    return bytes < least_piece ? least_piece : bytes;
}

HOT bool layout_copy_piece(char *to, const struct layout *to_layout, size_t to_count,
                           const char *from, const struct layout *from_layout, size_t from_count,
                           const struct copier *copier, size_t piece) {
    size_t bytes = from_layout->size * from_count, room = to_layout->size * to_count;
    if (room < bytes) bytes = room;
    if (bytes <= least_piece || to == from || (to_layout->run && from_layout->run)) {
        if (piece == 0) layout_copy(to, to_layout, to_count, from, from_layout, from_count, copier);
        return false;
    }
    size_t now = piece_bytes(to_layout), other = piece_bytes(from_layout);
    if (other > now) now = other;
    size_t at = piece * now;
    if (at >= bytes) return false;
    if (bytes - at < now) now = bytes - at;
    struct copier rest = *copier;
    rest.plain -= at < rest.plain ? at : rest.plain;
    struct cursor target = layout_start(to_layout, to, to_count, at);
    struct cursor source = layout_start(from_layout, (char *)(uintptr_t)from, from_count, at);
    stream(&target, &source, now, &rest);
    return at + now < bytes;
}

/* How many of the bytes [at, at + bytes) the stream has. */
static size_t layout_part(const struct layout *layout, size_t count, size_t at, size_t bytes) {
    size_t all = layout->size * count;
    if (at >= all) return 0;
    return all - at < bytes ? all - at : bytes;
}

HOT void layout_pack_part(char *to, const char *from, const struct layout *layout, size_t count,
                          size_t at, size_t bytes) {
    bytes = layout_part(layout, count, at, bytes);
    if (bytes == 0) return;
    struct cursor target = layout_start(&layout_bytes, to, bytes, 0);
    struct cursor source = layout_start(layout, (char *)(uintptr_t)from, count, at);
    stream(&target, &source, bytes, &plainly);
}

HOT void layout_unpack_part(char *to, const struct layout *layout, size_t count, const char *from,
                            size_t at, size_t bytes) {
    bytes = layout_part(layout, count, at, bytes);
    if (bytes == 0) return;
    struct cursor target = layout_start(layout, to, count, at);
    struct cursor source = layout_start(&layout_bytes, (char *)(uintptr_t)from, bytes, 0);
    stream(&target, &source, bytes, &plainly);
}

void layout_pack(char *to, const char *from, const struct layout *layout, size_t count) {
    layout_pack_part(to, from, layout, count, 0, SIZE_MAX);
}

void layout_unpack(char *to, const struct layout *layout, size_t count, const char *from,
                   size_t bytes) {
    layout_unpack_part(to, layout, count, from, 0, bytes);
}
