/* SPDX-License-Identifier: BSD-3-Clause */
/* reduction - every algorithm that combines, with threads as ranks: elements of any size, an
 * operation that does not commute, any length, root and place, in place, a tiny stage, late ranks
 * and ranks that run ahead, counters that wrap, ranks that cannot take part. Every byte of every
 * result is compared, and every byte beside it; a second operation, which is not associative, shows
 * that brackets do not depend on who comes first, and whether they are halves. After a call a rank
 * writes over its buffers at once.
 * reduction [SEED [CALLS]]: calls per team, at most. */
#include "crew.h"

#include "coll/node/arrival.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_bytes = 20000, guard = 64, quarter = 32 << 10 };

static _Atomic int by_levels;
static int calls = 150;

/* What all ranks know of a call. */
struct known {
    const struct algorithm *algorithm;
    struct call call;
    struct reduction reduction;
    int counts[most_ranks];
    int absent;   /* the rank that cannot take part; -1: none */
    bool twice;   /* with an operation that is not associative */
    bool reached; /* all buffers lie in the regions */
};

/* ---- operations ---- */

/* Each byte is a map x -> a x + b modulo 16: their composition is associative and does not
 * commute. */
static void compose(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    for (size_t i = 0; i < count * reduction->bytes; i++) {
        unsigned f = (unsigned char)in[i], g = (unsigned char)inout[i];
        inout[i] = (char)((f >> 4) * (g >> 4) << 4 | (((f >> 4) * (g & 15) + f) & 15));
    }
}

static void mix(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    for (size_t i = 0; i < count * reduction->bytes; i++)
        inout[i] = (char)(3 * in[i] + 5 * inout[i] + 1);
}

/* For ranks that combine in the order of arrival. */
static void add(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    for (size_t i = 0; i < count * reduction->bytes; i++) inout[i] = (char)(in[i] + inout[i]);
}

/* ---- contents ---- */

static void fill(const struct rank *rank, uint32_t number, int source, char *vector, size_t bytes) {
    uint64_t key = rank->crew->seed + number * 0x100000001b3u + (uint64_t)source;
    for (size_t i = 0; i < bytes; i++) {
        if (i % 8 == 0) key = key * 0x9e3779b97f4a7c15u + 0x7f4a7c15;
        /* `a` is odd: products do not become 0. */
        vector[i] = (char)((key >> (8 * (i % 8) / 2 + 24)) | 16);
    }
}

/* ---- one call ---- */

static bool combines(const struct algorithm *algorithm) {
    return algorithm->code->run && algorithm->code->where == ON_NODE &&
           algorithm->collectives >> COLL_reduce & 1;
}

static void draw_counts(uint64_t *random, struct known *known, int p, size_t most) {
    struct reduction *reduction = &known->reduction;
    enum collective c = known->call.shape.collective;
    reduction->count = most;
    if (c == COLL_reduce_scatter_block) reduction->count = (most / (size_t)p + 1) * (size_t)p;
    if (c != COLL_reduce_scatter) return;
    for (int r = 0; r < p; r++)
        known->counts[r] =
            draw_below(random, 4) ? (int)draw_below(random, (uint32_t)(most / (size_t)p) + 2) : 0;
    reduction->count = 0;
    for (int r = 0; r < p; r++) reduction->count += (size_t)known->counts[r];
    if (reduction->count == 0) reduction->count = (size_t)(known->counts[p - 1] = 1);
}

/* `either` has two where there are several domains: the domains' if all ranks come together, else
 * halves. So mortar does not run it there. */
static bool has_one_association(const struct rank *rank, const struct algorithm_code *code) {
    return !code->loose || !code->halves || code->halves(&rank->team.figures);
}

/* The same algorithm for some calls in a row, so that ranks run ahead where they may. */
static struct known draw_call(struct rank *rank, const struct algorithm **latest) {
    static const size_t sizes[] = {1, 2, 3, 4, 8, 8, 8, 12, 16, 24, 40, 100, 600, 5000, 9000};
    uint64_t *common = &rank->common;
    struct known known = {.absent = -1};
    while (!*latest || draw_below(common, 8) == 0) {
        *latest = &algorithms[draw_below(common, ALGORITHMS)];
        if (!combines(*latest)) *latest = NULL;
    }
    known.algorithm = *latest;
    do
        known.call.shape.collective =
            COLL_reduce + draw_below(common, COLL_exscan - COLL_reduce + 1);
    while (!(known.algorithm->collectives >> known.call.shape.collective & 1));
    size_t bytes = sizes[draw_below(common, sizeof sizes / sizeof *sizes)],
           p = (size_t)rank->team.p;
    known.reduction.bytes = bytes;
    draw_counts(common, &known, rank->team.p,
                (draw_bytes(common, most_bytes / 2) + bytes - 1) / bytes);
    if (known.reduction.count * bytes > most_bytes)
        known.reduction.count = p, known.counts[0] = (int)p;
    if (known.reduction.count * bytes > most_bytes) return draw_call(rank, latest);
    for (size_t r = 1, all = (size_t)known.counts[0]; r < p; r++) {
        if (all + (size_t)known.counts[r] > known.reduction.count) known.counts[r] = 0;
        all += (size_t)known.counts[r];
    }
    known.reduction.count_width = sizeof(int);
    known.call.in_place = draw_below(common, 4) == 0;
    known.call.root = (int)draw_below(common, 4) ? 0 : (int)draw_below(common, (uint32_t)p);
    known.twice = draw_below(common, 4) == 0 && has_one_association(rank, known.algorithm->code);
    known.reduction.any_order = !known.twice && draw_below(common, 3) == 0;
    known.reduction.commutes = !known.twice && draw_below(common, 3) == 0;
    known.reduction.combine = known.twice                                             ? mix
                              : known.reduction.any_order || known.reduction.commutes ? add
                                                                                      : compose;
    known.reached = draw_below(common, 2);
    if (!known.algorithm->code->loose && draw_below(common, 16) == 0)
        known.absent = (int)draw_below(common, (uint32_t)p);
    return known;
}

static size_t shape_bytes(const struct known *known, int p) {
    enum collective c = known->call.shape.collective;
    size_t all = known->reduction.count * known->reduction.bytes;
    return c == COLL_reduce_scatter || c == COLL_reduce_scatter_block
               ? (all + (size_t)p - 1) / (size_t)p
               : all;
}

/* Both buffers somewhere in the block, in different quarters; the first two are the region. */
static void place_buffers(struct rank *rank, struct known *known) {
    size_t bytes = known->reduction.count * known->reduction.bytes;
    uint32_t quarters = known->reached ? 2 : 4, send_in = draw_below(&rank->own, quarters);
    uint32_t recv_in = (send_in + 1 + draw_below(&rank->own, quarters - 1)) % quarters;
    size_t free = quarter - bytes - 2 * guard;
    known->call.send =
        rank->block + send_in * quarter + guard + draw_below(&rank->own, (uint32_t)free);
    known->call.recv =
        rank->block + recv_in * quarter + guard + draw_below(&rank->own, (uint32_t)free);
    if (known->call.shape.collective == COLL_reduce && rank->team.me != known->call.root) {
        known->call.in_place = false;
        if (draw_below(&rank->own, 2)) known->call.recv = NULL;
    }
    if (known->call.in_place) known->call.send = known->call.recv;
}

static void expected(const struct rank *rank, const struct known *known, uint32_t number,
                     char *result) {
    static _Thread_local char next[most_bytes];
    enum collective c = known->call.shape.collective;
    int last = c == COLL_scan     ? rank->team.me
               : c == COLL_exscan ? rank->team.me - 1
                                  : rank->team.p - 1;
    size_t bytes = known->reduction.count * known->reduction.bytes;
    for (int r = 0; r <= last; r++) {
        fill(rank, number, r, next, bytes);
        if (r > 0)
            known->reduction.combine(&known->reduction, result, next, known->reduction.count);
        memcpy(result, next, bytes);
    }
}

/* Combined by halves: ranks first .. end - 1. */
static void expected_halves(const struct rank *rank, const struct known *known, uint32_t number,
                            int first, int end, char *result) {
    static _Thread_local char left[8][most_bytes];
    int width = 1, level = 0;
    if (end - first == 1) {
        fill(rank, number, first, result, known->reduction.count * known->reduction.bytes);
        return;
    }
    while (2 * width < end - first) width *= 2, level++;
    expected_halves(rank, known, number, first, first + width, left[level]);
    expected_halves(rank, known, number, first + width, end, result);
    known->reduction.combine(&known->reduction, left[level], result, known->reduction.count);
}

static void all_are(const struct rank *rank, const char *at, size_t bytes, char value,
                    const char *what, uint32_t number) {
    for (size_t i = 0; i < bytes; i++)
        expect(at[i] == value, "p=%d rank %d call %u: %s, byte %zu of %zu", rank->team.p,
               rank->team.me, number, what, i, bytes);
}

static void check(const struct rank *rank, const struct known *known, uint32_t number,
                  struct part part, const char *wanted) {
    const struct call *call = &known->call;
    const struct reduction *reduction = &known->reduction;
    size_t from = part.first * reduction->bytes, bytes = part.count * reduction->bytes,
           all = reduction->count * reduction->bytes;
    for (size_t i = 0; i < bytes; i++)
        expect(call->recv[i] == wanted[from + i],
               "p=%d rank %d call %u: %s of %zu x %zu bytes%s by %s, root %d%s: byte %zu differs",
               rank->team.p, rank->team.me, number, collective_names[call->shape.collective],
               reduction->count, reduction->bytes, call->in_place ? " in place" : "",
               known->algorithm->name, call->root, known->twice ? ", again" : "", i);
    if (call->recv)
        all_are(rank, call->recv - guard, guard, 0x77, "written before the receive buffer", number);
    if (call->recv && !call->in_place)
        all_are(rank, call->recv + bytes, all - bytes + guard, 0x77, "written behind the result",
                number);
    if (call->recv && call->in_place)
        all_are(rank, call->recv + all, guard, 0x77, "written behind the receive buffer", number);
    static _Thread_local char sent[most_bytes];
    fill(rank, number, rank->team.me, sent, all);
    expect(call->in_place || memcmp(sent, call->send, all) == 0,
           "p=%d rank %d call %u: the send buffer was changed", rank->team.p, rank->team.me,
           number);
}

static enum outcome run(struct rank *rank, const struct known *known, uint32_t number) {
    struct call call = known->call;
    size_t all = known->reduction.count * known->reduction.bytes;
    if (call.recv) memset(call.recv - guard, 0x77, all + 2 * guard);
    fill(rank, number, rank->team.me, (char *)(uintptr_t)call.send, all);
    call.reduction = &known->reduction;
    /* What it could not pack, or lies on a device, has no address here. */
    if (known->absent == rank->team.me) {
        call.trouble = draw_below(&rank->own, 2) ? NO_MEMORY : ON_DEVICE;
        call.send = NULL;
        call.recv = NULL;
    }
    dawdle(&rank->own);
    return crew_calls(rank, &rank->team, known->algorithm->code, &call, &(struct arguments){0});
}

/* Where the collectives that leave some rank without a result have none, nothing may be written. */
static void one_call(struct rank *rank, uint32_t number, const struct algorithm **latest) {
    static _Thread_local char wanted[most_bytes];
    struct known known = draw_call(rank, latest);
    const struct algorithm_code *code = known.algorithm->code;
    known.call.shape.bytes = shape_bytes(&known, rank->team.p);
    known.reduction.counts =
        known.call.shape.collective == COLL_reduce_scatter ? known.counts : NULL;
    if (code->prepare)
        expect(code->prepare(&rank->team, &(struct arguments){0}) == 0, "prepare of %s",
               known.algorithm->name);
    place_buffers(rank, &known);
    known.call.reduction = &known.reduction;
    struct part part = part_received(&rank->team, &known.call, rank->team.me);
    enum outcome outcome = run(rank, &known, number);
    by_levels += rank->team.me == 0 && known.algorithm == &algorithms[ALGORITHM_slices] &&
                 outcome == DONE && levels_pay(&rank->team, &known.call);
    bool chained = known.algorithm == &algorithms[ALGORITHM_chain];
    bool fits = known.reduction.bytes <= (chained       ? 8 << 10
                                          : code->loose ? most_bytes
                                                        : rank->team.figures.slot);
    if (known.absent >= 0 || !fits)
        expect(
            outcome == LEFT || (known.absent < 0 && outcome == DONE && !code->loose),
            "p=%d rank %d call %u: %s of %zu x %zu bytes should have been left, not returned %d by %s; rank %d absent",
            rank->team.p, rank->team.me, number, collective_names[known.call.shape.collective],
            known.reduction.count, known.reduction.bytes, (int)outcome, known.algorithm->name,
            known.absent);
    else expect(outcome != LEFT, "%s left the call", known.algorithm->name);
    bool shares_fit = !levels_pay(&rank->team, &known.call) ||
                      known.reduction.count * known.reduction.bytes <= rank->team.figures.slot;
    if (shares_fit && known.reached && rank->crew->all_have_regions && known.absent < 0 && fits)
        expect(outcome == DONE, "p=%d call %u: %s did not go straight", rank->team.p, number,
               known.algorithm->name);
    if (outcome == LEFT) {
        part = (struct part){0, known.call.in_place ? known.reduction.count : 0};
        /* As it was. */
        fill(rank, number, rank->team.me, wanted, known.reduction.count * known.reduction.bytes);
        check(rank, &known, number, part, wanted);
    } else if (known.twice) {
        memcpy(wanted + part.first * known.reduction.bytes,
               known.call.recv ? known.call.recv : wanted,
               known.call.recv ? part.count * known.reduction.bytes : 0);
        /* Nor on where the buffers lie. */
        known.reached = draw_below(&rank->common, 2);
        place_buffers(rank, &known);
        bool again = run(rank, &known, number) != LEFT;
        if (again) check(rank, &known, number, part, wanted);
        bool reduces = known.call.shape.collective == COLL_reduce;
        if (again && reduces && code->halves && code->halves(&rank->team.figures)) {
            expected_halves(rank, &known, number, 0, rank->team.p, wanted);
            check(rank, &known, number, part, wanted);
        }
    } else {
        expected(rank, &known, number, wanted);
        check(rank, &known, number, part, wanted);
    }
    size_t all = known.reduction.count * known.reduction.bytes;
    memset((char *)(uintptr_t)known.call.send, 0x44, all);
    if (known.call.recv) memset(known.call.recv, 0x33, all);
}

static void body(struct rank *rank) {
    const struct algorithm *latest = NULL;
    uint32_t behind = draw_below(&rank->common, 2) ? UINT32_MAX - draw_below(&rank->common, 64) : 0;
    /* Of the tree. */
    for (int c = 0; c < tree_classes; c++)
        counted_by(&rank->team, rank->team.me)->calls[c] = behind;
    for (uint32_t number = 0; number < (uint32_t)calls; number++) {
        one_call(rank, number, &latest);
        if (number % 32 == 31 && !crew_goes_on(rank)) break;
    }
}

static void prepare(struct crew *crew, uint64_t *random) {
    crew->body = body;
    crew->room = 4 * quarter;
    crew->slot = 64 * (size_t)crew->p * (1 + draw_below(random, 8));
    if (draw_below(random, 2)) crew->slot = 16 << 10;
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    static const int sizes[] = {2, 3, 4, 5, 6, 7, 8, 9, 13, 16};
    if (count > 2) calls = atoi(words[2]);
    int runs = 0;
    /* On a busy machine one time has some 20 calls by levels, now and then less than 5. */
    for (int times = 0; times < 5 && by_levels < 5; times++)
        runs += crews_run(sizes, sizeof sizes / sizeof *sizes, calls, &random, prepare);
    printf("%d teams of up to 16 threads, at most %d calls each; %d by levels\n", runs, calls,
           by_levels);
    return by_levels < 5;
}
