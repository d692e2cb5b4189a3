/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.h - private to coll/: short blocks of any counts as a rank leaves them for its peers: a
 * note of how long they are, and the blocks. The note lies at the beginning of the rank's area of
 * the stage, or beside its beacon if it has one (reach.h); the blocks follow it, or lie in the
 * area. A short call costs what it touches, between ranks of one processor pages, else lines. So
 * nobody looks at an offer (offers.h), unless the note says that the blocks are elsewhere. */
#ifndef MORTAR_NOTES_H
#define MORTAR_NOTES_H

#include "coll/node/offers.h"

struct note {
    uint32_t bytes;    /* of all blocks, packed; NOTE_ELSEWHERE */
    uint32_t each;     /* of every block; NOTE_UNEVEN: `starts` is there */
    uint32_t at;       /* so many bytes behind the note the blocks lie; 0: in the area */
    uint32_t starts[]; /* [blocks + 1] where each begins, and where the last one ends */
};
#define NOTE_ELSEWHERE UINT32_MAX
#define NOTE_UNEVEN UINT32_MAX
enum { NOTE_BYTES = 16 }; /* without starts, and what follows is aligned */

/* Where a rank leaves a note and its blocks. */
struct note_place {
    struct note *note;
    char *area; /* begins with the note, unless that lies beside a beacon */
};

/* Bytes before blocks that follow their note: a few are in its line, others begin with a line. */
static inline size_t note_head(int blocks, bool uneven, size_t bytes) {
    size_t starts = uneven ? ((size_t)blocks + 1) * sizeof(uint32_t) : 0;
    size_t head = (sizeof(struct note) + starts + 7) / 8 * 8;
    return head + bytes > 64 ? (head + 63) / 64 * 64 : head;
}

/* Writes the blocks and their note, if they fit into an area of `room` bytes, at least NOTE_BYTES,
 * and are at most `most` bytes. False: a note that they are elsewhere. Local, as all here. */
bool note_write(struct note_place place, size_t room, size_t most, const struct blocks *blocks);

static inline bool note_is_here(const struct note *note) { return note->bytes != NOTE_ELSEWHERE; }
/* Block `index` of a note that is here, packed. */
static inline const char *note_block(struct note_place place, int index, size_t *bytes) {
    const struct note *note = place.note;
    bool uneven = note->each == NOTE_UNEVEN;
    uint32_t begin = uneven ? note->starts[index] : (uint32_t)index * note->each;
    *bytes = uneven ? note->starts[index + 1] - begin : note->each;
    return (note->at > 0 ? (const char *)note + note->at : place.area) + begin;
}

#endif
