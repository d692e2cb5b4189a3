/* SPDX-License-Identifier: BSD-3-Clause */
/* layout - copies between layouts, run by run. */
#include "copy/layout.h"

#include "copy/copy.h"

const struct layout layout_bytes = {.size = 1, .extent = 1, .high = 1, .run = true, .nests = 0};

size_t layout_footprint(const struct layout *layout) { return sizeof *layout + layout->nests * sizeof *layout->nest; }

/* A walk over the runs of count elements. */
struct walker {
    const struct layout *layout;
    char *base;
    size_t element, count, nest, index[layout_levels];
    size_t done; /* bytes of the run that lie behind */
};

static char *run_of(struct walker *w, size_t *bytes) {
    if (w->element == w->count) return *bytes = 0, NULL;
    if (w->layout->run) {
        *bytes = w->count * w->layout->size - w->done;
        return w->base + w->done;
    }
    const struct nest *nest = &w->layout->nest[w->nest];
    char *at = w->base + (ptrdiff_t)w->element * w->layout->extent + nest->at;
    for (uint32_t l = 0; l < nest->levels; l++) at += (ptrdiff_t)w->index[l] * nest->loop[l].step;
    *bytes = nest->bytes - w->done;
    return at + w->done;
}

static void advance(struct walker *w, size_t bytes) {
    w->done += bytes;
    if (w->layout->run) {
        if (w->done == w->count * w->layout->size) w->element = w->count;
        return;
    }
    const struct nest *nest = &w->layout->nest[w->nest];
    if (w->done < nest->bytes) return;
    w->done = 0;
    for (uint32_t l = nest->levels; l-- > 0;) {
        if (++w->index[l] < nest->loop[l].count) return;
        w->index[l] = 0;
    }
    if (++w->nest < w->layout->nests) return;
    w->nest = 0;
    w->element++;
}

static struct walker start(const struct layout *layout, const char *base, size_t count) {
    bool nothing = layout->size == 0;
    return (struct walker){.layout = layout, .base = (char *)(uintptr_t)base, .count = nothing ? 0 : count};
}

static void skip(struct walker *w, size_t bytes) {
    size_t run;
    while (bytes > 0 && run_of(w, &run)) {
        size_t now = run < bytes ? run : bytes;
        advance(w, now);
        bytes -= now;
    }
}

static void copy(struct walker *to, struct walker *from, size_t most, const struct copier *copier) {
    size_t there, here;
    while (most > 0) {
        char *out = run_of(to, &there);
        const char *in = run_of(from, &here);
        if (!out || !in) return;
        size_t bytes = there < here ? there : here;
        if (bytes > most) bytes = most;
        copy_block(copier, out, in, bytes);
        advance(to, bytes);
        advance(from, bytes);
        most -= bytes;
    }
}

void layout_copy(char *to, const struct layout *to_layout, size_t to_count, const char *from, const struct layout *from_layout,
                 size_t from_count, const struct copier *copier) {
    struct walker out = start(to_layout, to, to_count), in = start(from_layout, from, from_count);
    copy(&out, &in, SIZE_MAX, copier);
}

static const struct copier plain = {.kernel = KERNEL_plain};

void layout_pack_part(char *to, const char *from, const struct layout *layout, size_t count, size_t at, size_t bytes) {
    struct walker out = start(&layout_bytes, to, layout->size * count), in = start(layout, from, count);
    skip(&in, at);
    copy(&out, &in, bytes, &plain);
}

void layout_unpack_part(char *to, const struct layout *layout, size_t count, size_t at, const char *from, size_t bytes) {
    struct walker out = start(layout, to, count), in = start(&layout_bytes, from, bytes);
    skip(&out, at);
    copy(&out, &in, bytes, &plain);
}

void layout_pack(char *to, const char *from, const struct layout *layout, size_t count) {
    layout_pack_part(to, from, layout, count, 0, SIZE_MAX);
}

void layout_unpack(char *to, const struct layout *layout, size_t count, const char *from, size_t bytes) {
    layout_unpack_part(to, layout, count, 0, from, bytes);
}
