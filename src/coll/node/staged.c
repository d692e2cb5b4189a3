/* SPDX-License-Identifier: BSD-3-Clause */
/* staged - an exchange through the team's shared stage, in rounds: each rank copies in a chunk of
 * each of its blocks, all ranks meet at one barrier, and each copies its chunks out. The stage has
 * two halves, so that fast ranks can copy in the next round while slow ones still copy out: one
 * barrier a round (reach.h states the rule). It works in place, since a chunk is overwritten only
 * after it was staged. Cost per round: one barrier; two copies of p chunks per rank; small chunks
 * stay in the caches while staged. */
#include "coll/coll.h"

HOT static size_t chunk_that_fits(const struct team *team, const struct shape *shape, size_t wish) {
    size_t blocks = shape->collective == COLL_alltoall ? (size_t)team->p : 1;
    /* The usual case, without a division; slots are whole lines. */
    if (wish == 0 && shape->bytes * blocks * (size_t)team->p <= team->stage_half)
        return shape->bytes;
    /* At least 64 bytes: see MORTAR_SLOT in birth.c. */
    size_t most = team->figures.slot / blocks / 64 * 64;
    size_t chunk = wish > 0 && wish < most ? wish : most;
    return chunk < shape->bytes ? chunk : shape->bytes;
}

/* Copies bytes at .. at + length of each block into my slot, back to back. */
SHORT_WAY static void copy_in(const struct team *team, const struct call *call, size_t at,
                              size_t length) {
    size_t n = call->shape.bytes;
    int blocks = call->shape.collective == COLL_alltoall ? team->p : 1;
    char *slot = stage_of(team, team->epoch & 1, team->me, length * (size_t)blocks);
    charge_copy(length == n ? 1 : (size_t)blocks, length * (size_t)blocks);
    if (length == n) {
        memcpy(slot, call->send, n * (size_t)blocks);
        return;
    }
    for (int j = 0; j < blocks; j++)
        memcpy(slot + (size_t)j * length, call->send + (size_t)j * n + at, length);
}

/* Whole blocks, all of them staged. */
SHORT_WAY static void copy_all_out(const struct team *team, const struct call *call,
                                   uint32_t half) {
    bool alltoall = call->shape.collective == COLL_alltoall;
    size_t n = call->shape.bytes, staged = alltoall ? n * (size_t)team->p : n;
    const char *from = stage_of(team, half, 0, staged);
    size_t step = (size_t)(stage_of(team, half, 1, staged) - from), first = (size_t)team->first;
    if (alltoall) from += (size_t)team->me * n;
    copy_apart(call->recv + first * n, from + first * step, step, n, team->p - team->first);
    copy_apart(call->recv, from, step, n, team->first);
}

HOT static void copy_out(const struct team *team, const struct call *call, uint32_t half, size_t at,
                         size_t length, int posts) {
    if (length == call->shape.bytes && posts < 0) {
        copy_all_out(team, call, half);
        return;
    }
    static const struct copier plain = {.kernel = KERNEL_plain};
    bool alltoall = call->shape.collective == COLL_alltoall;
    size_t n = call->shape.bytes, step = alltoall ? length : 0;
    size_t staged = alltoall ? length * (size_t)team->p : length;
    for (int k = 0, i = team->first; k < team->p; k++, i = i + 1 < team->p ? i + 1 : 0) {
        const struct post *post = posts < 0 ? NULL : post_of(team, (uint32_t)posts, i);
        const char *from = stage_of(team, half, i, staged) + (size_t)team->me * step;
        if (post && post->send_reachable)
            from = (const char *)(team->peers[0][i] + post->send) +
                   (size_t)team->me * send_step(&call->shape) + at;
        copy_block(&plain, call->recv + (size_t)i * n + at, from, length);
    }
}

enum outcome turn_away(struct team *team, const struct call *call,
                       const struct arguments *arguments, uint32_t half, uint32_t trouble) {
    if (trouble & LEAVE) return LEFT;
    if (trouble & TYPED && !(trouble & SEND_UNREACHABLE && call->straight))
        return typed_exchange(team, call, arguments, short_in(team));
    if (call->straight) return trouble & FOR_GOOD ? OUT_OF_REACH : OUT_OF_REACH_SOON;
    staged_exchange(team, call, 0, (int)half);
    return trouble & FOR_GOOD ? STAGED : STAGED_SOON;
}

/* A round: a chunk of each block, through this half of the stage. posts: as in staged_exchange. */
struct round {
    size_t chunk, at, length;
    uint32_t half;
    int posts;
};

/* Behind its barrier. */
HOT static inline enum outcome round_end(struct team *team, const struct call *call,
                                         const struct round *round, uint32_t trouble) {
    if (trouble & LEAVE) return LEFT;
    if (trouble & TYPED)
        return typed_exchange(team, call, &(struct arguments){.chunk = round->chunk}, SIZE_MAX);
    copy_out(team, call, round->half, round->at, round->length, round->posts);
    return DONE;
}

HOT enum outcome staged_exchange(struct team *team, const struct call *call, size_t chunk,
                                 int posts) {
    size_t n = call->shape.bytes;
    struct round round = {.chunk = chunk_that_fits(team, &call->shape, chunk), .posts = posts};
    bool straight = posts >= 0 && post_of(team, (uint32_t)posts, team->me)->send_reachable;
    for (; round.at < n; round.at += round.chunk) {
        round.length = n - round.at < round.chunk ? n - round.at : round.chunk;
        round.half = team->epoch & 1;
        /* With trouble the buffer may not be readable. */
        if (!straight && !call->trouble) copy_in(team, call, round.at, round.length);
        uint32_t trouble = sync_all(team, round.at == 0 ? call->trouble : 0);
        enum outcome outcome = round_end(team, call, &round, trouble);
        if (trouble & (LEAVE | TYPED)) return outcome;
    }
    if (posts >= 0) sync_all(team, 0); /* no rank returns while its send buffer is read */
    return DONE;
}

/* ---- an exchange of one round, by a single barrier ---- */

static bool is_one_round(const struct team *team, const struct call *call,
                         const struct arguments *arguments) {
    size_t n = call->shape.bytes;
    return !is_vector(call->shape.collective) && n > 0 &&
           chunk_that_fits(team, &call->shape, arguments->chunk) == n;
}

SHORT_WAY static uint32_t staged_before(struct team *team, const struct call *call,
                                        const struct arguments *arguments) {
    (void)arguments;
    copy_in(team, call, 0, call->shape.bytes);
    return 0;
}

SHORT_WAY static enum outcome staged_after(struct team *team, const struct call *call,
                                           const struct arguments *arguments, uint32_t half,
                                           uint32_t trouble) {
    (void)arguments;
    size_t n = call->shape.bytes;
    struct round round = {.chunk = n, .length = n, .half = half, .posts = -1};
    return round_end(team, call, &round, trouble);
}

const struct single staged_single = {
    .is = is_one_round, .before = staged_before, .after = staged_after};
