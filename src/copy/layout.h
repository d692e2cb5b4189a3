/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - how the data of a datatype lie in memory, and copying from one layout to another. Knows no MPI. */
#ifndef MORTAR_LAYOUT_H
#define MORTAR_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct copier;

enum { layout_levels = 4 };

/* A run of bytes, repeated by nested loops, the outermost first. */
struct nest {
    ptrdiff_t at; /* of the first run, from the element's address */
    size_t bytes;
    uint32_t levels;
    struct loop {
        size_t count;
        ptrdiff_t step; /* bytes */
    } loop[layout_levels];
};

/* One element of a datatype, in the order of its signature. Holds no pointer: peers read it through another mapping. */
struct layout {
    size_t size;         /* bytes of data */
    ptrdiff_t extent;    /* from one element to the next */
    ptrdiff_t low, high; /* the data lie in [low, high) from the element's address */
    bool run;            /* any number of elements is one run of bytes in order, beginning at the address */
    uint32_t nests;      /* 0: no data */
    struct nest nest[];
};

/* One byte. */
extern const struct layout layout_bytes;

/* Bytes of the struct with its nests. */
size_t layout_footprint(const struct layout *layout);

/* Copies the data of from_count elements to the places of to_count elements in the order of the signature: as many bytes as the
 * shorter side has. Gaps are never written. The two sides do not overlap, unless they are the same. Local. */
void layout_copy(char *to, const struct layout *to_layout, size_t to_count, const char *from, const struct layout *from_layout,
                 size_t from_count, const struct copier *copier);
/* To and from contiguous memory; unpack: at most so many bytes are there. Local. */
void layout_pack(char *to, const char *from, const struct layout *layout, size_t count);
void layout_unpack(char *to, const struct layout *layout, size_t count, const char *from, size_t bytes);
/* The same for a part: bytes at .. at + bytes of the packed data of count elements. Local. */
void layout_pack_part(char *to, const char *from, const struct layout *layout, size_t count, size_t at, size_t bytes);
void layout_unpack_part(char *to, const struct layout *layout, size_t count, size_t at, const char *from, size_t bytes);

#endif
