/* SPDX-License-Identifier: BSD-3-Clause */
/* counts - allgathervs and alltoallvs of short blocks through the stage (src/coll/node/counted.c,
 * notes.c, vector.c), with threads as ranks, some of which count otherwise than the others: a rank
 * sends more to a peer than that has counted, or less. Nobody waits for ever; a rank gets what was
 * sent, as much of it as it has counted, and hears if that was not all; what lies behind a block
 * stays. counts [SEED [CALLS]] */
#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_bytes = 96, guard = 16, room_each = most_bytes + guard };
enum fault { NONE, SENDS_MORE, SENDS_LESS, COUNTS_MORE, COUNTS_LESS, FAULTS };

static int calls = 300;

/* What all ranks know of a call, and what one makes of it. An allgatherv has a longest block, about
 * which all have to agree. */
struct plan {
    bool gathers;
    uint64_t seed;
    uint32_t number, most;
    enum fault fault;
    int faulty, peer, longest;
};
struct counts {
    int64_t from[most_ranks], to[most_ranks], at[most_ranks];
};

static char byte_of(const struct plan *plan, int source, int dest, int64_t at) {
    uint32_t to = plan->gathers ? 0 : (uint32_t)dest;
    return (char)(plan->number * 31 + (uint32_t)source * 7 + to * 3 + (uint32_t)at);
}

static int64_t length_of(const struct plan *plan, int source, int dest) {
    uint64_t random =
        plan->seed + 977 * (uint64_t)source + (plan->gathers ? 0 : 31u * (uint64_t)dest);
    if (plan->gathers && source == plan->longest) return most_bytes;
    draw(&random);
    return draw_below(&random, plan->most - 8);
}

static struct counts counts_of(const struct plan *plan, int p, int rank) {
    struct counts counts;
    int peer = plan->peer;
    for (int r = 0; r < p; r++) {
        counts.from[r] = length_of(plan, r, rank);
        counts.to[r] = length_of(plan, rank, r);
        counts.at[r] = r * room_each;
    }
    if (rank != plan->faulty) return counts;
    if (plan->gathers) peer = plan->fault <= SENDS_LESS ? 0 : peer;
    if (plan->fault == SENDS_MORE) counts.to[peer] += 8;
    if (plan->fault == SENDS_LESS) counts.to[peer] /= 2;
    if (plan->gathers && peer == plan->longest) return counts;
    if (plan->fault == COUNTS_MORE) counts.from[peer] += 8;
    if (plan->fault == COUNTS_LESS) counts.from[peer] /= 2;
    return counts;
}

static struct plan draw_plan(struct rank *rank, uint32_t number) {
    uint64_t *common = &rank->common;
    uint32_t p = (uint32_t)rank->team.p;
    struct plan plan = {.gathers = draw_below(common, 2), .number = number};
    plan.seed = draw(common);
    plan.most = draw_below(common, 2)
                    ? 16
                    : most_bytes; /* often so short that few ranks hold it beside their beacons */
    plan.fault = draw_below(common, FAULTS);
    plan.faulty = (int)draw_below(common, p);
    plan.peer = (int)draw_below(common, p);
    plan.longest = (int)draw_below(common, p);
    return plan;
}

static void check(const struct plan *plan, int p, int me, const char *recv) {
    bool cut = false;
    struct counts mine = counts_of(plan, p, me);
    for (int r = 0; r < p; r++) {
        struct counts theirs = counts_of(plan, p, r);
        int64_t sent = theirs.to[plan->gathers ? 0 : me], counted = mine.from[r];
        cut |= sent > counted;
        for (int64_t at = 0; at < room_each; at++) {
            bool comes = at < sent && at < counted;
            char is = recv[r * room_each + at], should = comes ? byte_of(plan, r, me, at) : 0x77;
            expect(
                is == should,
                "p=%d rank %d call %u, %s, fault %d of rank %d about %d: byte %d of rank %d's %d "
                "is %02x, not %02x",
                p, me, plan->number, plan->gathers ? "allgatherv" : "alltoallv", (int)plan->fault,
                plan->faulty, plan->peer, (int)at, r, (int)sent, (unsigned char)is,
                (unsigned char)should);
        }
    }
    expect(cut == blocks_cut, "fault %d: a block is cut: %d, said: %d", (int)plan->fault, cut,
           blocks_cut);
}

static void one_call(struct rank *rank, uint32_t number) {
    extern const struct algorithm_code algorithm_cico, algorithm_pull;
    static _Thread_local char send[most_ranks * room_each], recv[most_ranks * room_each];
    struct team *team = &rank->team;
    struct plan plan = draw_plan(rank, number);
    struct counts mine = counts_of(&plan, team->p, team->me);
    for (int d = 0; d < team->p; d++)
        for (int64_t at = 0; at < mine.to[d]; at++)
            send[d * room_each + at] = byte_of(&plan, team->me, d, at);
    memset(recv, 0x77, sizeof recv);
    struct blocks sends = byte_runs(send, plan.gathers ? 1 : team->p, mine.to, mine.at),
                  recvs = byte_runs(recv, team->p, mine.from, mine.at);
    struct call call = {.sends = &sends, .recvs = &recvs, .longest = plan.gathers ? most_bytes : 0};
    call.shape.collective = plan.gathers ? COLL_allgatherv : COLL_alltoallv;
    const struct algorithm_code *code = plan.gathers ? &algorithm_cico : &algorithm_pull;
    const struct arguments arguments = {.walk = {.order = ORDER_rows}};
    expect(!code->prepare || code->prepare(team, &arguments) == 0, "not prepared");
    blocks_cut = false;
    dawdle(&rank->own);
    expect(crew_calls(rank, team, code, &call, &arguments) == DONE, "not done");
    check(&plan, team->p, team->me, recv);
}

static void body(struct rank *rank) {
    rank->team.figures.sync_seconds = 1; /* all that fits is short */
    for (uint32_t number = 0; number < (uint32_t)calls; number++) {
        one_call(rank, number);
        if (number % 8 == 7 && !crew_goes_on(rank)) break;
    }
}

static void prepare(struct crew *crew, uint64_t *random) {
    crew->body = body;
    crew->room = 1 << 16;
    crew->slot = 256 << draw_below(random, 5); /* blocks just fit, take rounds, or fit easily */
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    static const int sizes[] = {1, 2, 3, 4, 5, 8, 16};
    if (count > 2) calls = atoi(words[2]);
    int runs = crews_run(sizes, sizeof sizes / sizeof *sizes, calls, &random, prepare);
    printf("%d teams of up to 16 threads, at most %d calls each\n", runs, calls);
    return 0;
}
