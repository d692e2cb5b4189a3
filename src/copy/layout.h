/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - a part of copy.h: how the data of a datatype lie in memory, and copying from one
 * layout to another without an intermediate buffer. Knows no MPI; src/mpi/compile.c makes layouts
 * of datatypes. All calls are local. Only draft_finish can fail. */
#ifndef MORTAR_LAYOUT_H
#define MORTAR_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct copier;

enum { LAYOUT_LEVELS = 4 };

/* A nest: a contiguous run of bytes, repeated by nested loops, outermost first. */
struct loop {
    size_t count;   /* at least 1 */
    ptrdiff_t step; /* in bytes; may be 0 or negative */
};
struct nest {
    ptrdiff_t at; /* offset of the first byte from the element's address */
    size_t bytes; /* of the run; at least 1 */
    uint32_t levels;
    struct loop loop[LAYOUT_LEVELS];
    size_t before; /* data bytes of the nests before this one */
};

/* How the data of one element of a datatype lie in memory, in the order of the type's signature.
 * Compiled once per type. It has no pointers inside, because peers read it in shared memory through
 * another mapping. Only draft_finish makes layouts. */
struct layout {
    size_t size;      /* data bytes of one element */
    ptrdiff_t extent; /* from one element to the next */
    /* The data of one element lie in [low, high), offsets from its address; 0, 0: no data. */
    ptrdiff_t low, high;
    bool run;       /* any number of elements is one contiguous run that starts at the address */
    uint32_t nests; /* length of nest[]; 0: no data */
    struct nest nest[];
};
extern const struct layout layout_bytes; /* one byte */

/* The address so many bytes from another one. That of an element may be MPI_BOTTOM, which is NULL,
 * or lie nowhere, as only its data have to lie in memory; a pointer must not go there in C. */
static inline char *away_from(const char *address, ptrdiff_t bytes) {
    return (char *)((uintptr_t)address + (uintptr_t)bytes);
}

/* Bytes of the struct with its nests. */
size_t layout_footprint(const struct layout *layout);

/* Copies the data of from_count elements at `from` to to_count elements at `to`, both in the order
 * of their signatures; as many bytes as the smaller side has. Gaps are neither written nor read.
 * The sides must not overlap, except that the same address with the same layout is allowed: then
 * nothing is done. The target must not contain a byte twice. */
void layout_copy(char *to, const struct layout *to_layout, size_t to_count, const char *from,
                 const struct layout *from_layout, size_t from_count, const struct copier *copier);

/* Copies one piece of that copy, numbered from 0. False: it was the last one, or there is none. If
 * the data of a side are not contiguous, a piece is some KiB, so that several copies whose data
 * share pages can alternate. Otherwise piece 0 is the whole copy. Non-temporal stores are unordered
 * until the caller calls copy_fence. */
bool layout_copy_piece(char *to, const struct layout *to_layout, size_t to_count, const char *from,
                       const struct layout *from_layout, size_t from_count,
                       const struct copier *copier, size_t piece);

/* The packed stream is the data of count elements, one after the other. These copy it to and from
 * contiguous memory. layout_unpack may get fewer bytes than the elements hold. */
void layout_pack(char *to, const char *from, const struct layout *layout, size_t count);
void layout_unpack(char *to, const struct layout *layout, size_t count, const char *from,
                   size_t bytes);
/* The same for the bytes [at, at + bytes) of the stream, as far as it has them. The contiguous
 * memory begins with byte `at`. */
void layout_pack_part(char *to, const char *from, const struct layout *layout, size_t count,
                      size_t at, size_t bytes);
void layout_unpack_part(char *to, const struct layout *layout, size_t count, const char *from,
                        size_t at, size_t bytes);

/* ---- draft.c: building layouts ---- */
/* Begins as zeros. Appended nests merge with earlier ones where that saves nests. A draft fails,
 * and stays failed, if there is no memory or the type is too scattered: more than DRAFT_NESTS
 * nests, or more than DRAFT_STEPS single appends. */
enum { DRAFT_NESTS = 65536, DRAFT_STEPS = 1 << 20 };
struct draft {
    struct nest *nest;
    uint32_t nests, room;
    size_t steps;
    bool failed;
};
/* Appends one run. */
void draft_run(struct draft *draft, ptrdiff_t at, size_t bytes);
/* Appends count copies of another draft: the first at `at`, each next one `step` further. */
void draft_repeat(struct draft *draft, const struct draft *part, ptrdiff_t at, size_t count,
                  ptrdiff_t step);
/* Makes a layout of the draft, which the caller frees; NULL: the draft has failed, or no memory.
 * The draft is zeros afterwards. */
struct layout *draft_finish(struct draft *draft, ptrdiff_t extent);
/* Frees the contents of a draft, which is zeros afterwards. */
void draft_drop(struct draft *draft);

#endif
