/* SPDX-License-Identifier: BSD-3-Clause */
/* parcels - messages of several blocks; see parcels.h. */
#include "coll/parcels.h"

#include <errno.h>

/* Data up to here travel behind their sizes: about what the latency of a message of its own costs. */
enum { inside = 16 << 10 };

int parcel_send(struct team *team, struct parcel *parcel, int tag) {
    if (parcel->known) return message_send(team, parcel->peer, parcel->at, parcel->bytes, tag);
    size_t *memory = parcel->memory, count = (size_t)parcel->count;
    bool same = memory[0] > 0 && memcmp(memory + 1, parcel->sizes, count * sizeof *memory) == 0;
    size_t head = same ? 8 : 8 * (1 + count);
    char *start = parcel->at - head;
    if (!same) memory[0]++, memcpy(memory + 1, parcel->sizes, count * sizeof *memory);
    uint64_t word = (uint64_t)memory[0] << 1 | same;
    memcpy(start, &word, 8);
    if (!same) memcpy(start + 8, parcel->sizes, 8 * count);
    bool apart = parcel->bytes > inside;
    int error = message_send(team, parcel->peer, start, apart ? head : head + parcel->bytes, tag);
    return error || !apart ? error : message_send(team, parcel->peer, parcel->at, parcel->bytes, tag);
}

int parcel_expect(struct team *team, struct parcel *parcel, char *at, int tag, int mark) {
    parcel->number = messages_mark(team) - mark;
    parcel->at = at;
    size_t room = parcel->bytes;
    if (!parcel->known) room = parcel_head(parcel) + inside;
    if (!parcel->known || !at) parcel->room = scratch_take(team, room);
    if (!parcel->room && (!parcel->known || !at)) return -ENOMEM;
    if (!parcel->known) return message_recv(team, parcel->peer, parcel->room, room, tag);
    if (!at) parcel->at = parcel->room;
    return message_recv(team, parcel->peer, parcel->at, room, tag);
}

/* The sizes have come, and short data with them. */
static int open(struct team *team, struct parcel *parcel, int tag) {
    uint64_t word;
    size_t *memory = parcel->memory, count = (size_t)parcel->count;
    memcpy(&word, parcel->room, 8);
    bool same = word & 1;
    if (same && word >> 1 != memory[0]) return -EPROTO;
    if (!same) memory[0] = word >> 1, memcpy(memory + 1, parcel->room + 8, 8 * count);
    memcpy(parcel->sizes, memory + 1, count * sizeof *memory);
    parcel->bytes = 0;
    for (size_t b = 0; b < count; b++) parcel->bytes += memory[1 + b];
    parcel->at = parcel->room + (same ? 8 : 8 * (1 + count));
    if (parcel->bytes <= inside) return 0;
    parcel->at = scratch_take(team, parcel->bytes);
    if (!parcel->at) return -ENOMEM;
    return message_recv(team, parcel->peer, parcel->at, parcel->bytes, tag);
}

int parcels_finish(struct team *team, struct parcel *parcels, int count, int tag, int mark) {
    int which = 0, error = 0;
    if (count == 0 || parcels[0].known) return messages_finish(team, mark);
    /* Nobody may wait for its long messages to go before it has asked for those that come. */
    while (!error && (error = messages_next(team, mark, &which)) == 0 && which >= 0)
        for (int i = 0; i < count && !error; i++)
            if (parcels[i].number == which) error = open(team, &parcels[i], tag);
    if (error) messages_finish(team, mark);
    return error;
}
