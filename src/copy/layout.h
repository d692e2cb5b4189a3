/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - how the data of a datatype lie in memory, and copying from one layout to another
 * without anything between: part of copy.h. Knows no MPI; src/mpi/compile.c makes layouts of
 * datatypes. All calls are local and none fails, but for draft_finish. */
#ifndef MORTAR_LAYOUT_H
#define MORTAR_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct copier;

enum { LAYOUT_LEVELS = 4 };

/* A run of bytes, repeated by nested loops, outermost first. Counts, steps and places are in
 * elements, bytes and bytes. */
struct loop {
    size_t count;   /* at least 1 */
    ptrdiff_t step; /* may be 0 or negative */
};
struct nest {
    ptrdiff_t at; /* the first byte, from the element's address */
    size_t bytes; /* of the run; at least 1 */
    uint32_t levels;
    struct loop loop[LAYOUT_LEVELS];
    size_t before; /* data bytes of the nests before this one */
};

/* How the data of one element of a datatype lie in memory: compiled once per type, self-contained
 * (no pointers inside: peers read it in shared memory through another mapping), in the order of the
 * type's signature. Only draft_finish makes them. */
struct layout {
    size_t size;      /* data bytes of one element */
    ptrdiff_t extent; /* from one element to the next */
    /* The data of one element lie in [low, high) bytes from its address; 0, 0 where there are
     * none. */
    ptrdiff_t low, high;
    bool run;       /* count elements are one run of bytes, in order, from the address on */
    uint32_t nests; /* length of nest[]; 0: no data */
    struct nest nest[];
};
extern const struct layout layout_bytes; /* one byte */

/* Bytes of the struct with its nests. */
size_t layout_footprint(const struct layout *layout);

/* Copies the data of from_count elements at `from` to the places of to_count elements at `to`, both
 * in the order of their signatures, as many bytes as the smaller side has. Bytes between the data
 * are neither written nor read. The sides do not overlap, but data onto itself (the same address
 * and layout) is fine: nothing is done. Of the target no byte may be there twice. */
void layout_copy(char *to, const struct layout *to_layout, size_t to_count, const char *from,
                 const struct layout *from_layout, size_t from_count, const struct copier *copier);

/* One piece of that copy, the number `piece` from 0 on; false: it was the last one, or there is
 * none. Where the data of either side lie apart a piece is some KiB, so that several copies whose
 * data share pages can take turns. Non-temporal stores come in no order with others before
 * copy_fence. */
bool layout_copy_piece(char *to, const struct layout *to_layout, size_t to_count, const char *from,
                       const struct layout *from_layout, size_t from_count,
                       const struct copier *copier, size_t piece);

/* The data of count elements, one behind the other, make the packed stream. These copy it to, and
 * from, contiguous memory; of what is to be unpacked there may be less than the elements hold. */
void layout_pack(char *to, const char *from, const struct layout *layout, size_t count);
void layout_unpack(char *to, const struct layout *layout, size_t count, const char *from,
                   size_t bytes);
/* The same for the bytes [at, at + bytes) of the stream, or as many of them as it has. Contiguous
 * memory begins with byte `at`. */
void layout_pack_part(char *to, const char *from, const struct layout *layout, size_t count,
                      size_t at, size_t bytes);
void layout_unpack_part(char *to, const struct layout *layout, size_t count, const char *from,
                        size_t at, size_t bytes);

/* ---- draft.c: layouts in the making ---- */
/* Begins as zeros. What is appended merges with what is there where that needs fewer nests. It
 * fails, and stays failed, where there is no memory or the type is too scattered (DRAFT_NESTS
 * nests, DRAFT_STEPS appended one by one). */
enum { DRAFT_NESTS = 65536, DRAFT_STEPS = 1 << 20 };
struct draft {
    struct nest *nest;
    uint32_t nests, room;
    size_t steps;
    bool failed;
};
/* Appends one run. */
void draft_run(struct draft *draft, ptrdiff_t at, size_t bytes);
/* Appends count copies of another draft, the first at `at`, each next one a step further. */
void draft_repeat(struct draft *draft, const struct draft *part, ptrdiff_t at, size_t count,
                  ptrdiff_t step);
/* Makes a layout of it, which the caller frees; NULL: the draft has failed, or no memory. The draft
 * is zeros again. */
struct layout *draft_finish(struct draft *draft, ptrdiff_t extent);
/* Frees what a draft holds; it is zeros again. */
void draft_drop(struct draft *draft);

#endif
