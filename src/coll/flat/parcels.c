/* SPDX-License-Identifier: BSD-3-Clause */
/* parcels - messages of several blocks; see parcels.h. */
#include "coll/flat/parcels.h"

/* the word: two flags; the bits above them hold the number */
enum { SAME = 1, LOST = 2, NUMBER = 4 };

void parcel_send(struct team *team, struct parcel *parcel, int tag) {
    if (parcel->known) {
        message_send(team, parcel->peer, parcel->at, parcel->bytes, tag);
        return;
    }
    size_t *memory = parcel->memory, count = (size_t)parcel->count;
    bool same = memory[0] > 0 && memcmp(memory + 1, parcel->sizes, count * sizeof *memory) == 0,
         lost = messages_lost(team);
    size_t head = same ? 8 : 8 * (1 + count);
    char *start = lost ? parcel->room : parcel->at - head;
    if (!same) memory[0]++, memcpy(memory + 1, parcel->sizes, count * sizeof *memory);
    uint64_t word = (uint64_t)memory[0] * NUMBER;
    if (same) word |= SAME;
    if (lost) word |= LOST;
    memcpy(start, &word, 8);
    if (!same) memcpy(start + 8, parcel->sizes, 8 * count);
    bool apart = parcel->bytes > parcel_inside;
    word_send(team, parcel->peer, start, lost || apart ? head : head + parcel->bytes, tag);
    if (apart && !lost) message_send(team, parcel->peer, parcel->at, parcel->bytes, tag);
}

void parcel_expect(struct team *team, struct parcel *parcel, char *at, int tag, int mark) {
    parcel->number = messages_mark(team) - mark;
    if (!parcel->known) {
        word_recv(team, parcel->peer, parcel->room, parcel_head(parcel) + parcel_inside, tag);
        return;
    }
    parcel->at = at ? at : far_take(team, parcel->bytes);
    message_recv(team, parcel->peer, parcel->at, parcel->bytes, tag);
}

/* Reads the sizes of a parcel that has arrived, and receives its data unless they came along. */
static void open(struct team *team, struct parcel *parcel, int tag) {
    uint64_t word;
    size_t *memory = parcel->memory, count = (size_t)parcel->count;
    memcpy(&word, parcel->room, 8);
    bool same = word & SAME;
    /* memory holds the sizes of another parcel */
    if (same && word / NUMBER != memory[0]) messages_lose(team);
    if (!same) memory[0] = word / NUMBER, memcpy(memory + 1, parcel->room + 8, 8 * count);
    memcpy(parcel->sizes, memory + 1, count * sizeof *memory);
    parcel->bytes = 0;
    for (size_t b = 0; b < count; b++) parcel->bytes += memory[1 + b];
    parcel->at = parcel->room + (same ? 8 : 8 * (1 + count));
    if (word & LOST) messages_lose(team);
    if (parcel->bytes <= parcel_inside || word & LOST) return;
    parcel->at = far_take(team, parcel->bytes);
    message_recv(team, parcel->peer, parcel->at, parcel->bytes, tag);
}

void parcels_finish(struct team *team, struct parcel *parcels, int count, int tag, int mark) {
    if (count == 0 || parcels[0].known) {
        messages_finish(team, mark);
        return;
    }
    /* Every rank must post its receives of long messages before it waits for its own to be sent. */
    for (int which; messages_next(team, mark, &which), which >= 0;)
        for (int i = 0; i < count; i++)
            if (parcels[i].number == which) open(team, &parcels[i], tag);
}
