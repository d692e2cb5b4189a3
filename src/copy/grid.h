/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.h - private to copy/: boxes, which are regular pieces of a layout in memory, and copying
 * from one to another. */
#ifndef MORTAR_COPY_GRID_H
#define MORTAR_COPY_GRID_H

#include "copy/copy.h"

/* A run of bytes, repeated by nested loops, outermost first: a nest at an address, a part of a
 * nest, or a nest with a loop over all elements. */
enum { BOX_LEVELS = LAYOUT_LEVELS + 1 };
struct grid_box {
    char *at;
    size_t bytes;
    uint32_t levels;
    struct loop loop[BOX_LEVELS];
};

/* Bytes of all its runs. */
size_t box_total(const struct grid_box *box);

/* Cuts a box of more than `most` bytes to its first bytes: as many of `most` as form a box. Returns
 * their number. */
size_t box_cut(struct grid_box *box, size_t most);

/* Copies the bytes of a box, in order, to another box of as many bytes. False: the loops of the two
 * do not divide each other, and nothing was copied. copier->plain is reduced by the bytes
 * copied. */
bool box_copy(const struct grid_box *to, const struct grid_box *from, struct copier *copier);

/* Shorter runs (bytes) hardly contain a whole cache line for a non-temporal store: memcpy copies
 * them. */
enum { least_kernel = 64 };

/* Copies one run. The caller calls copy_fence after the last one. */
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
