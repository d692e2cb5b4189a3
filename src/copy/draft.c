/* SPDX-License-Identifier: BSD-3-Clause */
/* draft - builds layouts. Types are made of types, so a layout is built from the inside out, by two
 * operations: append a run, and append copies of a part. Every step keeps the simplest form.
 * Adjacent runs become one run, and a loop over adjacent runs becomes a longer run. Two nested
 * loops become one if each turn of the outer continues where the inner ends. A nest that repeats
 * the one before it at a constant step becomes one more turn of a loop. */
#include "copy/copy.h"

#include <stdlib.h>

/* True: the loops are the same, without the skipped outer ones. */
static bool same_shape(const struct nest *a, uint32_t skip_a, const struct nest *b,
                       uint32_t skip_b) {
    if (a->bytes != b->bytes || a->levels < skip_a || b->levels < skip_b ||
        a->levels - skip_a != b->levels - skip_b)
        return false;
    for (uint32_t l = 0; l < a->levels - skip_a; l++)
        if (a->loop[skip_a + l].count != b->loop[skip_b + l].count ||
            a->loop[skip_a + l].step != b->loop[skip_b + l].step)
            return false;
    return true;
}

/* Puts a loop around a nest. False: it has the maximum number of loops already. */
static bool wrap(struct nest *nest, size_t count, ptrdiff_t step) {
    if (count == 1) return true;
    if (nest->levels == 0 && step == (ptrdiff_t)nest->bytes) {
        nest->bytes *= count;
    } else if (nest->levels > 0 && step == (ptrdiff_t)nest->loop[0].count * nest->loop[0].step) {
        nest->loop[0].count *= count;
    } else {
        if (nest->levels == LAYOUT_LEVELS) return false;
        for (uint32_t l = nest->levels++; l > 0; l--) nest->loop[l] = nest->loop[l - 1];
        nest->loop[0] = (struct loop){count, step};
    }
    return true;
}

/* Merges two consecutive nests into a. False: they stay two. */
static bool draft_join(struct nest *a, const struct nest *b) {
    ptrdiff_t between = b->at - a->at;
    if (a->levels == 0 && b->levels == 0 && between == (ptrdiff_t)a->bytes) { /* adjacent runs */
        a->bytes += b->bytes;
        return true;
    }
    bool follows = a->levels > 0 && between == (ptrdiff_t)a->loop[0].count * a->loop[0].step;
    if (follows && same_shape(a, 1, b, 0)) { /* one more turn */
        a->loop[0].count++;
    } else if (follows && same_shape(a, 1, b, 1) &&
               a->loop[0].step == b->loop[0].step) { /* the turns of both */
        a->loop[0].count += b->loop[0].count;
    } else if (b->levels > 0 && between == b->loop[0].step &&
               same_shape(a, 0, b, 1)) { /* a is the turn before b's first */
        ptrdiff_t at = a->at;
        *a = *b;
        a->at = at;
        a->loop[0].count++;
        return true;
    } else {
        return same_shape(a, 0, b, 0) && wrap(a, 2, between);
    }
    return true;
}

static void append(struct draft *draft, const struct nest *nest) {
    if (draft->failed || ++draft->steps > DRAFT_STEPS) {
        draft->failed = true;
        return;
    }
    if (draft->nests == draft->room) {
        uint32_t room = draft->room ? 2 * draft->room : 4;
        struct nest *more = room <= DRAFT_NESTS ? realloc(draft->nest, room * sizeof *more) : NULL;
        if (!more) {
            draft->failed = true;
            return;
        }
        draft->nest = more;
        draft->room = room;
    }
    draft->nest[draft->nests++] = *nest;
    while (draft->nests > 1 &&
           draft_join(&draft->nest[draft->nests - 2], &draft->nest[draft->nests - 1]))
        draft->nests--;
}

void draft_run(struct draft *draft, ptrdiff_t at, size_t bytes) {
    if (bytes > 0) append(draft, &(struct nest){.at = at, .bytes = bytes});
}

void draft_repeat(struct draft *draft, const struct draft *part, ptrdiff_t at, size_t count,
                  ptrdiff_t step) {
    if (part->failed) draft->failed = true;
    if (part->nests == 0 || count == 0) return;
    struct nest nest = part->nest[0];
    if (part->nests == 1 && wrap(&nest, count, step)) {
        nest.at += at;
        append(draft, &nest);
        return;
    }
    for (size_t i = 0; i < count && !draft->failed; i++, at += step)
        for (uint32_t k = 0; k < part->nests; k++) {
            nest = part->nest[k];
            nest.at += at;
            append(draft, &nest);
        }
}

/* Adds a nest to the layout's size and bounds. */
static void draft_measure(struct layout *layout, struct nest *nest) {
    size_t total = nest->bytes;
    ptrdiff_t low = nest->at, high = nest->at + (ptrdiff_t)nest->bytes;
    for (uint32_t l = 0; l < nest->levels; l++) {
        ptrdiff_t way = (ptrdiff_t)(nest->loop[l].count - 1) * nest->loop[l].step;
        total *= nest->loop[l].count;
        if (way < 0) low += way;
        else high += way;
    }
    if (layout->size == 0 || low < layout->low) layout->low = low;
    if (layout->size == 0 || high > layout->high) layout->high = high;
    nest->before = layout->size;
    layout->size += total;
}

struct layout *draft_finish(struct draft *draft, ptrdiff_t extent) {
    struct layout *layout = NULL;
    size_t bytes = sizeof *layout + draft->nests * sizeof *layout->nest;
    if (!draft->failed) layout = calloc(1, bytes);
    if (layout) {
        layout->extent = extent;
        layout->nests = draft->nests;
        for (uint32_t k = 0; k < draft->nests; k++) {
            layout->nest[k] = draft->nest[k];
            draft_measure(layout, &layout->nest[k]);
        }
        const struct nest *first = layout->nest;
        bool piece =
            layout->nests == 0 || (layout->nests == 1 && first->levels == 0 && first->at == 0);
        layout->run = piece && (ptrdiff_t)layout->size == extent;
    }
    draft_drop(draft);
    return layout;
}

void draft_drop(struct draft *draft) {
    free(draft->nest);
    *draft = (struct draft){0};
}
