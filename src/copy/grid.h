/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.h - private to copy/: boxes, which are regular pieces of a layout in memory, and copying one
 * onto another. */
#ifndef MORTAR_COPY_GRID_H
#define MORTAR_COPY_GRID_H

#include "copy/copy.h"

/* A run of bytes repeated by nested loops, outermost first: a nest at an address, or a part of it,
 * or one for all elements. */
enum { BOX_LEVELS = LAYOUT_LEVELS + 1 };
struct box {
    char *at;
    size_t bytes;
    uint32_t levels;
    struct loop loop[BOX_LEVELS];
};

/* Bytes of all its runs. */
size_t box_total(const struct box *box);

/* Cuts a box that has more than `most` bytes down to its first ones: most, or as many as make a
 * box. Returns how many. */
size_t box_cut(struct box *box, size_t most);

/* Copies the bytes of a box to the places of another, which has as many, in order. False, and
 * nothing is copied: the loops of the two do not divide each other. `copier` counts down: its plain
 * is what is left of the bytes to be copied plainly. */
bool box_copy(const struct box *to, const struct box *from, struct copier *copier);

/* Shorter runs (bytes) have hardly a whole line to be stored past the caches: they are copied
 * plainly. */
enum { least_kernel = 64 };

/* Copies one run; what a kernel stores is fenced by layout_copy. */
static inline void move_run(struct copier *copier, char *to, const char *from, size_t bytes) {
    if (bytes < least_kernel || copier->plain >= bytes) {
        copy_block(&(struct copier){.kernel = KERNEL_plain, .plain = SIZE_MAX}, to, from, bytes);
        copier->plain -= bytes < copier->plain ? bytes : copier->plain;
    } else {
        charge_copy(1, bytes);
        kernels[copier->kernel].move(to, from, bytes);
        copier->plain = 0;
    }
}

#endif
