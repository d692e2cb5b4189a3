/* SPDX-License-Identifier: BSD-3-Clause */
/* leaders - collectives among nodes, with threads as ranks on nodes of any size, in any order:
 * those that combine, by messages and by universal, with an operation that does not commute
 * wherever the plan can do that; broadcast, gatherv, scatterv and the barrier by universal. Several
 * calls back to back, every byte compared.
 * leaders [SEED] */
#include "cluster.h"
#include "scene.h"

#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

enum { most = 700, rounds = 4 };

static const char *const texts[] = {"recursive",
                                    "fold",
                                    "halving",
                                    "prefix",
                                    "universal(recursive)",
                                    "universal(fold)",
                                    "universal(halving)",
                                    "universal(prefix)",
                                    "universal(binomial)",
                                    "universal(direct)",
                                    "universal(dissemination)",
                                    "tardy"};
enum { text_count = sizeof texts / sizeof *texts };
static struct plan plans[text_count];

static _Atomic int inside; /* ranks that have entered the barrier */

static void combine_ranks(const struct reduction *reduction, uint64_t seed, int first, int end,
                          struct map *result) {
    for (size_t i = 0; i < reduction->count && end > first; i++) {
        result[i] = map_of(seed, end - 1, i);
        for (int r = end - 2; r >= first; r--) {
            struct map left = map_of(seed, r, i);
            map_combine(reduction, (char *)&left, (char *)&result[i], 1);
        }
    }
}

static _Thread_local bool scarce; /* one rank lacks memory in all calls */

/* False: there is nothing to compare. */
static bool run(struct rank *rank, struct team *team, const struct plan *plan, struct call *call) {
    const struct algorithm_code *code = plan->algorithm->code;
    dawdle(&rank->own);
    if (scarce) call->trouble = scarce_begin(rank, !code->loose || code->where == BY_MESSAGES);
    enum outcome outcome = code->run(team, call, &plan->arguments);
    if (scarce) return scarce_end(rank, outcome);
    expect(outcome == DONE, "%s by %s", collective_names[call->shape.collective], plan->text);
    return true;
}

static void reduction_call(struct rank *rank, struct team *team, const struct plan *plan,
                           enum collective collective) {
    uint64_t *common = &rank->common, seed = draw(common);
    bool commutes = draw_below(common, 2), in_place = draw_below(common, 4) == 0;
    int p = team->p, me = team->me, counts[most_ranks],
        root = draw_below(common, 4) ? p / 2 : (int)draw_below(common, (uint32_t)p);
    struct reduction reduction = {
        .combine = map_combine, .state = &commutes, .bytes = sizeof(struct map), .counts = counts};
    reduction.count_width = sizeof(int);
    for (int r = 0; r < p; r++)
        reduction.count += (size_t)(counts[r] = (int)draw_below(common, 40));
    if (collective == COLL_reduce_scatter_block)
        reduction.count = (size_t)p * (1 + draw_below(common, 30));
    if (collective == COLL_reduce && draw_below(common, 2)) reduction.count = draw_below(common, 4);
    if (reduction.count == 0) reduction.count = (size_t)(counts[p - 1] = 1);
    reduction.any_order = collective == COLL_reduce && commutes && draw_below(common, 2);
    struct map send[most], sent[most], recv[most + guard], wanted[most + guard], all[most];
    memset(recv, 0x77, sizeof recv);
    memset(wanted, 0x77, sizeof wanted);
    struct shape shape = {.collective = collective, .bytes = reduction.count * sizeof(struct map)};
    if (collective == COLL_reduce_scatter || collective == COLL_reduce_scatter_block)
        shape.bytes /= (size_t)p;
    shape.ordered = !commutes && !team->places->in_order;
    if (!can_run(plan->algorithm, &plan->arguments, &team->figures, &shape)) return;
    in_place = in_place && collective != COLL_reduce;
    for (size_t i = 0; i < reduction.count; i++) send[i] = map_of(seed, me, i);
    memcpy(sent, send, reduction.count * sizeof *send);
    if (in_place)
        memcpy(recv, send, reduction.count * sizeof *send), memcpy(wanted, recv, sizeof recv);
    struct call call = {.shape = shape,
                        .send = in_place ? (char *)recv : (char *)send,
                        .recv = (char *)recv,
                        .root = root};
    call.reduction = &reduction, call.in_place = in_place;
    struct part part = part_received(team, &call, me);
    bool inclusive = collective == COLL_scan, prefix = inclusive || collective == COLL_exscan;
    combine_ranks(&reduction, seed, 0, prefix ? me + inclusive : p, all);
    memcpy(wanted, all + part.first, part.count * sizeof *all);
    if (!run(rank, team, plan, &call)) return;
    expect(memcmp(send, sent, reduction.count * sizeof *send) == 0,
           "%s by %s wrote into a send buffer", collective_names[collective], plan->text);
    expect(memcmp(recv, wanted, sizeof recv) == 0, "%s of %zu by %s, p=%d rank %d root %d%s%s",
           collective_names[collective], reduction.count, plan->text, p, me, root,
           commutes ? "" : ", ordered", in_place ? ", in place" : "");
}

static struct blocks blocks_at(char *base, int count, const int *counts, const int *displs) {
    return (struct blocks){.base = base,
                           .count = count,
                           .layout = &layout_bytes,
                           .counts = counts,
                           .displs = displs,
                           .unit = 1,
                           .count_width = sizeof(int),
                           .displ_width = sizeof(int)};
}

static void rooted_call(struct rank *rank, struct team *team, const struct plan *plan,
                        enum collective collective) {
    uint64_t *common = &rank->common, seed = draw(common);
    int p = team->p, me = team->me, root = (int)draw_below(common, (uint32_t)p), counts[most_ranks],
        displs[most_ranks], at = 0;
    bool bcast = collective == COLL_bcast, gathers = collective == COLL_gatherv;
    for (int r = 0; r < p; r++) {
        counts[r] = (int)draw_below(common, 90);
        displs[r] = at;
        at += counts[r] + (int)draw_below(common, 3);
    }
    char area[most_ranks * 100], own[100], wanted_area[sizeof area], wanted[sizeof own],
        whole[sizeof area];
    for (size_t i = 0; i < sizeof whole; i++) whole[i] = (char)(seed + i * 7 + i / 256);
    bool gives = gathers || me == root, takes = gathers ? me == root : !bcast || me != root;
    int block = bcast ? 0 : me, bytes = bcast ? 64 : counts[block];
    memset(own, 0x77, sizeof own);
    memset(area, 0x77, sizeof area);
    if (gathers || (bcast && me == root)) memcpy(own, whole + displs[block], (size_t)bytes);
    else if (me == root) memcpy(area, whole, sizeof area);
    memcpy(wanted, own, sizeof own);
    memcpy(wanted_area, area, sizeof area);
    for (int r = 0; r < p && gathers && me == root; r++)
        memcpy(wanted_area + displs[r], whole + displs[r], (size_t)counts[r]);
    if (!gathers) memcpy(wanted, whole + displs[block], (size_t)bytes);
    struct blocks single = blocks_at(own, 1, &bytes, NULL),
                  many = blocks_at(area, p, counts, displs), none = {.layout = &layout_bytes};
    struct call call = {
        .shape = {.collective = collective, .bytes = bcast ? 64 : 0, .unsized = !bcast},
        .root = root};
    call.sends = !gives ? &none : gathers || bcast ? &single : &many;
    call.recvs = !takes ? &none : gathers ? &many : &single;
    if (!run(rank, team, plan, &call)) return;
    expect(memcmp(own, wanted, sizeof own) == 0 && memcmp(area, wanted_area, sizeof area) == 0,
           "%s by %s, p=%d rank %d root %d", collective_names[collective], plan->text, p, me, root);
}

static void barrier_call(struct rank *rank, struct team *team, const struct plan *plan) {
    struct call call = {.shape = {.collective = COLL_barrier, .unsized = true}};
    sync_all(&rank->team, 0);
    atomic_store(&inside, 0);
    sync_all(&rank->team, 0);
    atomic_fetch_add(&inside, 1);
    if (!run(rank, team, plan, &call)) return;
    expect(atomic_load(&inside) == team->p, "a rank left the barrier too early");
}

static void one_plan(struct rank *rank, struct team *team, const struct plan *plan) {
    const struct routine *inner = plan->arguments.inner;
    const struct algorithm_code *code = plan->algorithm->code;
    /* More calls than fit into rings and windows. */
    bool ahead = code->loose && code->where == OVER_NODES;
    expect(!code->prepare || code->prepare(team, &plan->arguments) == 0, "prepare of %s",
           plan->text);
    for (enum collective c = 0; c < COLLECTIVES; c++) {
        if (!among(c, plan->algorithm->collectives)) continue;
        if (inner && !among(plan->algorithm->code->asks(c), inner->algorithm->collectives))
            continue;
        for (int again = 0; again < (ahead ? 60 : 3); again++) {
            if (among(c, REDUCTIONS)) reduction_call(rank, team, plan, c);
            else if (c == COLL_barrier) barrier_call(rank, team, plan);
            else if (c == COLL_bcast || c == COLL_gatherv || c == COLL_scatterv)
                rooted_call(rank, team, plan, c);
        }
    }
}

static void body(struct rank *rank, struct team *team) {
    for (int round = 0; round < rounds; round++) {
        scarce = round % 2 == 0;
        for (int i = 0; i < text_count; i++) one_plan(rank, team, &plans[i]);
    }
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    char why[192];
    for (int i = 0; i < text_count; i++)
        expect(plan_parse(texts[i], &plans[i], why, sizeof why) == 0, "%s: %s", texts[i], why);
    clusters_run(&random, NULL, body);
    printf("%d plans on 2 to %d ranks\n", (int)text_count, (int)most_ranks);
    return 0;
}
