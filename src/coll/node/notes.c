/* SPDX-License-Identifier: BSD-3-Clause */
/* notes - see notes.h. */
#include "coll/node/notes.h"

static const struct copier plain = {.kernel = KERNEL_plain};

HOT static inline void pack(char *to, const struct blocks *blocks, uint32_t *starts) {
    uint32_t at = 0;
    for (int b = 0; b < blocks->count; b++) {
        struct block block = block_of(blocks, b);
        size_t length = block_bytes(&block);
        if (starts) starts[b] = at;
        pack_block(to + at, &block, length);
        at += (uint32_t)length;
    }
    if (starts) starts[blocks->count] = at;
}

HOT bool note_write(struct note_place place, size_t room, size_t most,
                    const struct blocks *blocks) {
    struct note *note = place.note;
    size_t each, bytes = measure_blocks(blocks, &each);
    bool uneven = each == SIZE_MAX, beside = (char *)note != place.area,
         in_a_row = !uneven && !blocks->counts && !blocks->displs && !blocks->layouts;
    size_t head = note_head(blocks->count, uneven, bytes);
    if (beside) {
        size_t behind = note_head(blocks->count, uneven, 0);
        if (behind > BEACON_INSIDE) room = 0; /* no place for `starts` */
        head = behind + bytes <= BEACON_INSIDE ? behind : 0;
    }
    bool fits = bytes <= most && bytes < NOTE_ELSEWHERE && head + bytes <= room;
    note->bytes = fits ? (uint32_t)bytes : NOTE_ELSEWHERE;
    if (!fits) return false;
    note->each = uneven ? NOTE_UNEVEN : (uint32_t)each;
    note->at = (uint32_t)head;
    char *to = head > 0 ? (char *)note + head : place.area;
    if (in_a_row && blocks->layout->run) copy_block(&plain, to, blocks->base, bytes);
    else pack(to, blocks, uneven ? note->starts : NULL);
    return true;
}
