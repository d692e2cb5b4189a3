/* SPDX-License-Identifier: BSD-3-Clause */
/* shown.h - a part of reach.h: what of my memory peers can touch (shown.c). */
#ifndef MORTAR_SHOWN_H
#define MORTAR_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment_name;
struct team;

enum shown {
    SHOWN,
    SHOWN_LATER, /* it has not paid yet to bring the memory into reach: a few more calls */
    SHOWN_NEVER, /* it cannot be brought into reach, or not soon */
};
enum showing {
    SHOW_TO_READERS = 0,
    SHOW_TO_WRITERS = 1, /* peers write to it: call team_takes_back after the last barrier */
    /* Not all of it belongs to the call: other threads may write the rest. So it does not move;
     * SHOWN_LATER: it should, if it can be proved that all of it does. */
    SHOW_GAPS = 2,
    SHOW_NOW = 4, /* moves it at once */
    SHOW_ASK = 8, /* the same answer, but peers may not read it yet: show it again */
};
/* Shows [memory, memory + bytes) to the peers until the end of the call, at *offset of my region.
 * The barrier before they touch it must follow. If the memory is not shown *offset is its distance
 * from the region, which only I can use. Local. */
enum shown team_shows(const struct team *team, const void *memory, size_t bytes, enum showing how,
                      uint64_t *offset);
/* After the barrier behind the last store of a peer. Local. */
void team_takes_back(const struct team *team, void *memory, size_t bytes);
/* True: malloc's memory. Local. */
bool team_owns(const struct team *team, const void *address);
/* malloc's blocks of fewer bytes, but for very short ones, are out of reach. */
enum { shown_from = 16 << 10 };
/* Memory that is always shown: what is written to it peers see at once. It begins with a cache
 * line, or with a multiple of `alignment`, if that is longer. NULL: this process has no heap, or it
 * is full. Local. */
void *shown_born(size_t alignment, size_t bytes);
/* Scratch: such memory if there is any and the team has no wire, since messages carry any memory;
 * else malloc's, which is shown as the program's is, with what is in it by then. NULL: none. */
void *shown_alloc(const struct team *team, size_t bytes);
void shown_free(void *memory);
/* True: memory of this process's heap. */
bool shown_owns(const void *memory);
/* Memory that must stay where it is, because an adapter may use its pages: it does not move between
 * these two calls. What has moved before stays so. Both local; the structure is the caller's. */
struct staying {
    uintptr_t start;
    size_t bytes;
    struct staying *next, **link;
};
void shown_stays(struct staying *memory);
void shown_may_move(struct staying *memory);
/* MPI runs: from now on all blocks that the program makes come from the shared heap. Local. */
void shown_start(void);
/* Sets heap, region and region_bytes of the team, and *name. -errno: there is no heap. Local. */
int shown_begin(struct team *team, struct segment_name *name);
/* What has moved so far in this process. Other threads may move more meanwhile. */
extern struct shown_moves {
    _Atomic uint64_t count;
    uint64_t bytes;
    double seconds; /* that it took */
    double saves;   /* seconds, expected of one call on each of these buffers */
    bool huge_lost; /* what moves loses its huge pages */
} shown_moves;

#endif
