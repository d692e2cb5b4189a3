/* SPDX-License-Identifier: BSD-3-Clause */
/* threads - every algorithm of a node that does alltoall or allgather, with threads as ranks:
 * back-to-back calls with changing contents, sizes, orders, places and reachability of buffers,
 * late ranks, a tiny stage (so many rounds), counters that wrap, ranks that cannot take part. Every
 * byte of every result is compared, and every byte beside it. After a call a rank writes over its
 * buffers at once: who still reads or writes them breaks a result, or is caught by the thread
 * sanitizer.
 * threads [SEED [CALLS]]: calls per team, at most. */
#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_bytes = 5000, guard = 64 };

static int calls = 100;

/* What all ranks know of a call. */
struct plan_of_call {
    const struct algorithm *algorithm;
    struct arguments arguments;
    struct call call;
    int absent; /* the rank that cannot take part; -1: none */
    bool all_reachable;
};

/* ---- contents: the block from source to dest in this call ---- */

static uint64_t key_of(const struct rank *rank, uint32_t number, const struct shape *shape,
                       int source, int dest) {
    uint64_t key = rank->crew->seed + number * 0x100000001b3u + (uint64_t)source * 64;
    return key += shape->collective == COLL_alltoall ? (uint64_t)dest : 63;
}

static void fill(char *block, size_t bytes, uint64_t key) {
    uint64_t word = draw(&key);
    for (size_t i = 0; i < bytes; i += 8, word += 0x9e3779b97f4a7c15u)
        memcpy(block + i, &word, bytes - i < 8 ? bytes - i : 8);
}

/* The first byte that differs; bytes: none. */
static size_t differs(const char *block, size_t bytes, uint64_t key) {
    uint64_t word = draw(&key);
    for (size_t i = 0; i < bytes; i += 8, word += 0x9e3779b97f4a7c15u) {
        const char *wanted = (const char *)&word;
        for (size_t b = i; b < bytes && b < i + 8; b++)
            if (block[b] != wanted[b - i]) return b;
    }
    return bytes;
}

static void all_are(const struct rank *rank, const char *at, size_t bytes, char value,
                    const char *what, uint32_t number) {
    for (size_t i = 0; i < bytes; i++)
        expect(at[i] == value, "p=%d rank %d call %u: %s, byte %zu of %zu", rank->team.p,
               rank->team.me, number, what, i, bytes);
}

/* ---- one call ---- */

static struct plan_of_call draw_call(struct rank *rank) {
    uint64_t *common = &rank->common;
    struct plan_of_call plan = {.absent = -1};
    do plan.algorithm = &algorithms[draw_below(common, ALGORITHMS)];
    while (!plan.algorithm->code->run ||
           !(plan.algorithm->collectives & (BIT(alltoall) | BIT(allgather))));
    do plan.call.shape.collective = draw_below(common, 2) ? COLL_alltoall : COLL_allgather;
    while (!among(plan.call.shape.collective, plan.algorithm->collectives));
    size_t n = draw_bytes(common, most_bytes);
    plan.call.shape.bytes = n;
    if (!can_run(plan.algorithm, &plan.arguments, &rank->team.figures, &plan.call.shape))
        return draw_call(rank);
    plan.call.in_place = draw_below(common, 4) == 0;
    plan.arguments.walk.order = draw_below(common, ORDERS);
    int kernel = (int)draw_below(common, KERNELS);
    if (kernels[kernel].usable()) plan.arguments.copier.kernel = (enum kernel_id)kernel;
    if (draw_below(common, 2)) plan.arguments.copier.plain = draw_below(common, 5000);
    do plan.arguments.path = draw_below(common, PATHS);
    while (plan.arguments.path > 0 && !paths[plan.arguments.path].code->open);
    if (draw_below(common, 3) == 0)
        plan.arguments.chunk = n / 24 + 1 + draw_below(common, (uint32_t)n);
    if (draw_below(common, 16) == 0) plan.absent = (int)draw_below(common, (uint32_t)rank->team.p);
    plan.all_reachable = draw_below(common, 2);
    return plan;
}

/* Both buffers somewhere in the block, in different quarters. The first two are the region, in
 * reach of peers; some receive buffers begin there and end outside. */
static void place_buffers(struct rank *rank, struct plan_of_call *plan) {
    const struct shape *shape = &plan->call.shape;
    size_t quarter = rank->crew->room / 4, received = shape->bytes * (size_t)rank->team.p,
           sent = send_bytes(shape, rank->team.p);
    uint32_t quarters = plan->all_reachable ? 2 : 4, send_in = draw_below(&rank->own, quarters);
    uint32_t recv_in = (send_in + 1 + draw_below(&rank->own, quarters - 1)) % quarters;
    size_t send_at =
        send_in * quarter + guard + draw_below(&rank->own, (uint32_t)(quarter - sent - 2 * guard));
    size_t recv_at = recv_in * quarter + guard +
                     draw_below(&rank->own, (uint32_t)(quarter - received - 2 * guard));
    if (recv_in == 1 && send_in != 2 && !plan->all_reachable && draw_below(&rank->own, 2))
        recv_at = 2 * quarter - 1 - draw_below(&rank->own, (uint32_t)received);
    plan->call.recv = rank->block + recv_at;
    plan->call.send = rank->block + send_at;
    if (!plan->call.in_place) return;
    plan->call.send =
        plan->call.recv +
        (shape->collective == COLL_alltoall ? 0 : (size_t)rank->team.me * shape->bytes);
}

static void fill_buffers(struct rank *rank, const struct call *call, uint32_t number) {
    const struct shape *shape = &call->shape;
    size_t n = shape->bytes, p = (size_t)rank->team.p;
    memset(call->recv - guard, 0x77, n * p + 2 * guard);
    char *send = (char *)(uintptr_t)call->send;
    for (size_t j = 0; j < send_bytes(shape, rank->team.p) / n; j++)
        fill(send + j * n, n, key_of(rank, number, shape, rank->team.me, (int)j));
}

static void check_buffers(const struct rank *rank, const struct plan_of_call *plan,
                          uint32_t number) {
    const struct call *call = &plan->call;
    const struct shape *shape = &call->shape;
    size_t n = shape->bytes, p = (size_t)rank->team.p;
    for (size_t i = 0; i < p; i++) {
        size_t at =
            differs(call->recv + i * n, n, key_of(rank, number, shape, (int)i, rank->team.me));
        expect(
            at == n,
            "p=%zu rank %d call %u: %s of %zu bytes%s by %s (order %s, kernel %s, chunk %zu, path %s): block %zu differs at %zu",
            p, rank->team.me, number, collective_names[shape->collective], n,
            call->in_place ? " in place" : "", plan->algorithm->name,
            orders[plan->arguments.walk.order].name, kernels[plan->arguments.copier.kernel].name,
            plan->arguments.chunk, paths[plan->arguments.path].name, i, at);
    }
    all_are(rank, call->recv - guard, guard, 0x77, "written before the receive buffer", number);
    all_are(rank, call->recv + n * p, guard, 0x77, "written behind the receive buffer", number);
    for (size_t j = 0; !call->in_place && j < send_bytes(shape, rank->team.p) / n; j++)
        expect(differs(call->send + j * n, n, key_of(rank, number, shape, rank->team.me, (int)j)) ==
                   n,
               "p=%zu rank %d call %u: the send buffer was changed", p, rank->team.me, number);
}

/* What this call returned must be the same everywhere. The others' answers are there one call
 * later. */
static void compare_outcomes(struct rank *rank, uint32_t number, enum outcome outcome) {
    static enum outcome outcomes[4][most_ranks];
    int me = rank->team.me;
    outcomes[number % 4][me] = outcome;
    for (int r = 0; number > 0 && r < rank->team.p; r++)
        expect(outcomes[(number - 1) % 4][r] == outcomes[(number - 1) % 4][me],
               "p=%d call %u: rank %d returned %d, rank %d %d", rank->team.p, number - 1, r,
               (int)outcomes[(number - 1) % 4][r], me, (int)outcomes[(number - 1) % 4][me]);
}

static void one_call(struct rank *rank, uint32_t number) {
    struct plan_of_call plan = draw_call(rank);
    const struct algorithm_code *code = plan.algorithm->code;
    dawdle(&rank->own);
    if (code->prepare)
        expect(code->prepare(&rank->team, &plan.arguments) == 0, "prepare of %s",
               plan.algorithm->name);
    place_buffers(rank, &plan);
    fill_buffers(rank, &plan.call, number);
    struct call call = plan.call;
    /* What it could not pack, or lies on a device, has no address here. */
    if (plan.absent == rank->team.me) {
        call.trouble = draw_below(&rank->own, 2) ? NO_MEMORY : ON_DEVICE;
        call.send = NULL;
        call.recv = NULL;
    }
    dawdle(&rank->own);
    enum outcome outcome = code->run(&rank->team, &call, &plan.arguments);
    expect((outcome == LEFT) == (plan.absent >= 0),
           "p=%d rank %d call %u: %s returned %d, rank %d absent", rank->team.p, rank->team.me,
           number, plan.algorithm->name, (int)outcome, plan.absent);
    bool moving = call.in_place && call.shape.collective == COLL_alltoall;
    if (plan.all_reachable && rank->crew->all_have_regions && !moving && plan.absent < 0)
        expect(outcome == DONE, "p=%d call %u: %s did not go straight", rank->team.p, number,
               plan.algorithm->name);
    compare_outcomes(rank, number, outcome);
    if (plan.absent < 0) check_buffers(rank, &plan, number);
    else if (!call.in_place)
        all_are(rank, plan.call.recv, plan.call.shape.bytes * (size_t)rank->team.p, 0x77,
                "written, but left", number);
    memset(plan.call.recv, 0x33, plan.call.shape.bytes * (size_t)rank->team.p);
    memset((char *)(uintptr_t)plan.call.send, 0x44, send_bytes(&plan.call.shape, rank->team.p));
}

static void body(struct rank *rank) {
    for (uint32_t number = 0; number < (uint32_t)calls; number++) {
        one_call(rank, number);
        if (number % 8 == 7 && !crew_goes_on(rank)) break;
    }
}

static void prepare(struct crew *crew, uint64_t *random) {
    size_t p = (size_t)crew->p;
    crew->body = body;
    crew->slot = 64 * p * (1 + draw_below(random, 8));
    crew->room = (6 * most_bytes * p + 8 * guard) / 16384 * 16384 + 16384;
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
    setenv("MORTAR_XPMEM", XPMEM_STAND_IN, 1);
    if (count > 2) calls = atoi(words[2]);
    int runs = crews_run(sizes, sizeof sizes / sizeof *sizes, calls, &random, prepare);
    paths_finish();
    printf("%d teams of up to 16 threads, at most %d calls each\n", runs, calls);
    return 0;
}
