/* SPDX-License-Identifier: BSD-3-Clause */
/* counted - an allgatherv through the stage, as cico does it while every block fits. All ranks know
 * all counts, so each knows where the others' blocks lie, and nobody writes or reads a card
 * (vector.c). Each block's length comes with it: a peer that sends more or less than this rank has
 * counted for it is found out, as messages would find it.
 * Cost    one barrier, n beta into the stage and p n beta out of it;  stage  2 p longest + 16 p. */
#include "coll/node/offers.h"

/* Of each block. Its length lies behind the room for the longest: so the data begin with a line. */
struct place {
    char *data;
    uint64_t *bytes;
};
static inline struct place place_of(const struct team *team, const struct call *call, uint32_t half,
                                    int rank) {
    size_t room = (call->longest + 7) / 8 * 8;
    char *data = stage_of(team, half, rank, room + sizeof(uint64_t));
    return (struct place){data, (uint64_t *)(void *)(data + room)};
}

bool counted_fits(const struct team *team, const struct call *call,
                  const struct arguments *arguments) {
    size_t most = team->figures.slot - sizeof(uint64_t);
    if (arguments->chunk > 0 && arguments->chunk < most) most = arguments->chunk;
    return call->longest > 0 && call->longest <= most;
}

/* Is my block as long as my own counts say? If not it may be too long for its place. */
static bool is_as_counted(const struct team *team, const struct call *call) {
    struct block sent = block_of(call->sends, 0), counted = block_of(call->recvs, team->me);
    return block_bytes(&sent) == block_bytes(&counted);
}

/* Returns the trouble to arrive with. */
HOT static inline uint32_t counted_in(const struct team *team, const struct call *call) {
    struct block mine = block_of(call->sends, 0);
    if (!is_as_counted(team, call)) return TYPED;
    struct place place = place_of(team, call, team->epoch & 1, team->me);
    *place.bytes = block_bytes(&mine);
    pack_block(place.data, &mine, *place.bytes);
    return 0;
}

/* False: more was sent than I have room for. */
HOT static inline bool counted_take(const struct team *team, const struct call *call, uint32_t half,
                                    int rank) {
    struct block mine = block_of(call->recvs, rank);
    struct place place = place_of(team, call, half, rank);
    fit_block(&mine, *place.bytes);
    put_block(&mine, place.data, *place.bytes);
    return *place.bytes <= block_bytes(&mine);
}

/* Behind the barrier. FAILED: a block was cut. */
HOT static inline enum outcome counted_end(struct team *team, const struct call *call,
                                           uint32_t half, uint32_t trouble) {
    if (trouble & LEAVE) return LEFT;
    if (trouble & TYPED)
        return vector_exchange(team, call, &(struct arguments){.chunk = call->longest}, SIZE_MAX);
    bool whole = true;
    for (int r = team->first; r < team->p; r++) whole &= counted_take(team, call, half, r);
    for (int r = 0; r < team->first; r++) whole &= counted_take(team, call, half, r);
    return whole ? DONE : FAILED;
}

HOT enum outcome counted_exchange(struct team *team, const struct call *call) {
    uint32_t half = team->epoch & 1,
             trouble = call->trouble ? call->trouble : counted_in(team, call);
    enum outcome outcome = counted_end(team, call, half, sync_all(team, trouble));
    return outcome == FAILED ? DONE : outcome; /* blocks_cut tells */
}

/* ---- by a single barrier ---- */

SHORT_WAY static uint32_t before(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    (void)arguments;
    return counted_in(team, call);
}

SHORT_WAY static enum outcome after(struct team *team, const struct call *call,
                                    const struct arguments *arguments, uint32_t half,
                                    uint32_t trouble) {
    (void)arguments;
    return counted_end(team, call, half, trouble);
}

const struct single counted_single = {.is = counted_fits, .before = before, .after = after};
