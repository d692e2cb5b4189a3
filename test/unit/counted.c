/* SPDX-License-Identifier: BSD-3-Clause */
/* counted - allgathervs through the stage (src/coll/node/counted.c), with threads as ranks, some of
 * which count otherwise than the others: a rank sends more than all have counted, or less, or
 * counts more or less for one peer than the peers do. Nobody waits for ever; a rank gets what was
 * sent, as much of it as it has counted, and hears if that was not all; what lies behind a block
 * stays. counted [SEED [CALLS]] */
#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_bytes = 100, guard = 16, rank_room = most_bytes + guard };
enum fault { NONE, SENDS_MORE, SENDS_LESS, COUNTS_MORE, COUNTS_LESS, FAULTS };

static int calls = 300;

struct counts {
    int64_t of[most_ranks], at[most_ranks];
    int64_t sent;
};

static char byte_of(uint32_t number, int rank, int64_t at) {
    return (char)(number * 31 + (uint32_t)rank * 7 + (uint32_t)at);
}

/* Everybody's counts, and what the rank at fault makes of its own. The longest block keeps its
 * length: that is what all have to agree about. */
static struct counts draw_counts(struct rank *rank, enum fault fault, int faulty, int peer) {
    struct counts counts;
    int p = rank->team.p, longest = (int)draw_below(&rank->common, (uint32_t)p);
    for (int r = 0; r < p; r++) {
        counts.of[r] = r == longest ? most_bytes : draw_below(&rank->common, most_bytes + 1);
        counts.at[r] = r * rank_room;
    }
    if (fault != NONE && counts.of[peer] > most_bytes - 8 && peer != longest) counts.of[peer] -= 8;
    int me = rank->team.me;
    counts.sent = counts.of[me];
    if (me != faulty) return counts;
    if (fault == SENDS_MORE) counts.sent += 8;
    if (fault == SENDS_LESS) counts.sent /= 2;
    if (fault == COUNTS_MORE && peer != longest) counts.of[peer] += 8;
    if (fault == COUNTS_LESS && peer != longest) counts.of[peer] /= 2;
    if (peer == me && fault >= COUNTS_MORE) counts.sent = counts.of[me];
    return counts;
}

static void one_call(struct rank *rank, uint32_t number) {
    static _Thread_local char send[most_bytes + 8], recv[most_ranks * rank_room];
    struct team *team = &rank->team;
    uint32_t p = (uint32_t)team->p;
    enum fault fault = draw_below(&rank->common, FAULTS);
    int faulty = (int)draw_below(&rank->common, p), peer = (int)draw_below(&rank->common, p);
    struct counts all[most_ranks];
    uint64_t same = rank->common;
    int me = team->me;
    for (int r = 0; r < team->p; r++) {
        rank->common = same, team->me = r; /* what rank r draws */
        all[r] = draw_counts(rank, fault, faulty, peer);
    }
    team->me = me;
    struct counts *mine = &all[me];
    for (int64_t at = 0; at < mine->sent; at++) send[at] = byte_of(number, me, at);
    memset(recv, 0x77, sizeof recv);
    struct blocks sends = {.base = send,
                           .count = 1,
                           .layout = &layout_bytes,
                           .each = (size_t)mine->sent},
                  recvs = {.base = recv,
                           .count = team->p,
                           .layout = &layout_bytes,
                           .counts = mine->of,
                           .displs = mine->at,
                           .unit = 1,
                           .count_width = 8,
                           .displ_width = 8};
    struct call call = {.shape = {.collective = COLL_allgatherv, .bytes = most_bytes / 2},
                        .sends = &sends,
                        .recvs = &recvs,
                        .longest = longest_of(&recvs)};
    struct arguments arguments = {0};
    expect(call.longest == most_bytes, "the test itself: longest %zu", call.longest);
    extern const struct algorithm_code algorithm_cico;
    blocks_cut = false;
    dawdle(&rank->own);
    expect(crew_calls(rank, team, &algorithm_cico, &call, &arguments) == DONE, "not done");
    bool cut = false;
    for (int r = 0; r < team->p; r++) {
        int64_t sent = all[r].sent, got = sent < mine->of[r] ? sent : mine->of[r];
        cut |= sent > mine->of[r];
        for (int64_t at = 0; at < rank_room; at++) {
            char is = recv[r * rank_room + at], should = at < got ? byte_of(number, r, at) : 0x77;
            expect(is == should,
                   "p=%u rank %d call %u, fault %d of rank %d about %d: byte %d of "
                   "rank %d's %d is %02x, not %02x",
                   p, me, number, (int)fault, faulty, peer, (int)at, r, (int)sent,
                   (unsigned char)is, (unsigned char)should);
        }
    }
    expect(cut == blocks_cut, "fault %d: a block is cut %d, said %d", (int)fault, cut, blocks_cut);
}

static void body(struct rank *rank) {
    for (uint32_t number = 0; number < (uint32_t)calls; number++) {
        one_call(rank, number);
        if (number % 8 == 7 && !crew_goes_on(rank)) break;
    }
}

static void prepare(struct crew *crew, uint64_t *random) {
    crew->body = body;
    crew->room = 1 << 16;
    crew->slot = draw_below(random, 2) ? 128 : 4096; /* a long block just fits, or easily */
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    static const int sizes[] = {1, 2, 3, 4, 5, 8, 16};
    if (count > 2) calls = atoi(words[2]);
    int runs = crews_run(sizes, sizeof sizes / sizeof *sizes, calls, &random, prepare);
    printf("%d teams of up to 16 threads, at most %d calls each\n", runs, calls);
    return 0;
}
