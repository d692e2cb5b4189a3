/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_either - MPI_Reduce of long vectors: by slices (slices.c) if all ranks come together,
 * by the tree of arrival.c, which lets early ranks go, if they do not. Nothing has to be known
 * before, since each call finds out: ranks meet, and the last to come says "together". A rank that
 * has waited for as long as the tree costs more says "apart" if nobody has said anything yet, so at
 * most that much is lost, as in the ski-rental problem. Both combine by halves, with the same
 * digits.
 *
 * A verdict is one word, changed once in a meeting, and all ranks go by it. So all know alike how
 * many calls in a row went apart, and let more and more calls go apart without a meeting.
 *
 * Ranks that go apart run ahead of each other, and are apart in the next meeting for that alone. So
 * they also measure, and try, what is faster (pace.h).
 *
 * Meetings are a ring. A rank that is ahead may be in a later one; it enters the one that lies in
 * the place of meeting k only when all ranks have come to k, and then no rank counts itself there
 * for k any more. A rank may still wait for the verdict of k and find that of the later meeting.
 * Then k went apart, because ranks that are together end the call together.
 * Cost    that of slices; if ranks come late at most twice that of the tree.
 * Wins    long vectors. */
#include "coll/node/pace.h"
#include "coll/node/slices.h"

extern const struct algorithm_code algorithm_either, algorithm_slices, algorithm_arrival;

enum { meetings = 8 };

struct meeting {
    _Alignas(64) _Atomic uint32_t arrived; /* over all rounds; wraps */
    _Atomic uint32_t told;                 /* trouble of those that have come */
    struct flag closed;                    /* how many rounds all ranks have come to; wraps */
    _Alignas(64) struct flag said;         /* the round and the verdict in one number; wraps */
    /* Of all ranks; who came last, and when. Valid together. */
    uint32_t trouble;
    int latest;
    double entered;
};
enum { verdicts = 4 };

static struct meeting *meeting_at(const struct team *team, uint64_t place) {
    return (struct meeting *)(void *)team->shared[ALGORITHM_either] + place;
}

static struct pace *pace_of(const struct team *team) {
    return (struct pace *)(void *)meeting_at(team, meetings) + team->me;
}

/* The verdict, if it was made; else NOTHING. */
static int heard(uint32_t word, uint32_t round) {
    int32_t since = (int32_t)(word - verdicts * round);
    if (since < verdicts) return since > 0 ? since : NOTHING;
    return APART; /* of a later meeting */
}

static int say(struct meeting *meeting, uint32_t seen, uint32_t round, int verdict) {
    uint32_t wanted = verdicts * round + (uint32_t)verdict;
    if (!atomic_compare_exchange_strong_explicit(&meeting->said.word, &seen, wanted,
                                                 memory_order_seq_cst, memory_order_acquire))
        return heard(seen, round);
    flag_wake(&meeting->said);
    return verdict;
}

/* All ranks have come. Nobody is in a later meeting before this one is closed. */
static int conclude(const struct team *team, struct meeting *meeting, uint32_t round) {
    uint32_t seen = flag_look(&meeting->said);
    int verdict = heard(seen, round);
    meeting->trouble = atomic_load_explicit(&meeting->told, memory_order_relaxed);
    atomic_store_explicit(&meeting->told, 0, memory_order_relaxed);
    meeting->latest = team->me;
    meeting->entered = team->waits.entered;
    if (verdict == NOTHING) verdict = say(meeting, seen, round, TOGETHER);
    flag_set(&meeting->closed, round + 1);
    return verdict;
}

/* Waits for the verdict for at most so long, 0: without an end, and then gives it. */
static int await_verdict(struct team *team, struct meeting *meeting, uint32_t round,
                         double seconds) {
    uint32_t seen = flag_look(&meeting->said);
    int verdict = heard(seen, round);
    if (verdict != NOTHING) return verdict;
    if (seconds == 0) flag_wait(team, &meeting->said, seen);
    else if (!flag_wait_for(team, &meeting->said, seen, seconds))
        return say(meeting, seen, round, APART);
    verdict = heard(flag_look(&meeting->said), round);
    if (verdict == TOGETHER) waits_for(team, meeting->latest, meeting->entered);
    return verdict;
}

/* TOGETHER: all ranks have come, what they wrote before is visible, and *trouble is that of all. */
static int meet(struct team *team, uint64_t number, double seconds, uint32_t *trouble) {
    struct meeting *meeting = meeting_at(team, number % meetings);
    uint32_t round = (uint32_t)(number / meetings); /* wraps */
    flag_reach(team, &meeting->closed, round);
    if (*trouble) atomic_fetch_or_explicit(&meeting->told, *trouble, memory_order_relaxed);
    uint32_t arrived = atomic_fetch_add_explicit(&meeting->arrived, 1, memory_order_acq_rel) + 1;
    bool last = arrived == (round + 1) * (uint32_t)team->p; /* both wrap alike */
    int verdict =
        last ? conclude(team, meeting, round) : await_verdict(team, meeting, round, seconds);
    if (verdict == TOGETHER) *trouble = meeting->trouble;
    team->waits.open = false;
    return verdict;
}

/* About what the tree costs more: it copies what slices only read, some three more passes over a
 * vector for each rank, and where ranks share processors all of them pay for all of that. Xeon
 * virtual machine with 2 cores, 2026-11, 512 KiB: slices are as fast as the tree where 16 ranks
 * are late by 0.7 ms, 64 by 2.8; with other machines on the same memory, 2 and 6. */
static double tree_seconds(const struct figures *f, size_t bytes) {
    return 2 * f->usual_sync_seconds + 4.0 / 3 * crowding(f) * combine_seconds(bytes);
}

static enum outcome either_pass(struct team *team, const struct call *call,
                                const struct arguments *arguments, struct pace *pace) {
    const struct reduction *reduction = call->reduction;
    double began = clock_seconds(), copy = combine_seconds(reduction->count * reduction->bytes);
    enum outcome outcome = algorithm_arrival.run(team, call, arguments);
    pace_passed(pace, (clock_seconds() - began) / copy);
    return outcome;
}

static enum outcome either_run(struct team *team, const struct call *call,
                               const struct arguments *arguments) {
    const struct reduction *reduction = call->reduction;
    struct pace *pace = pace_of(team);
    if (pace_passes(pace)) return either_pass(team, call, arguments, pace);
    struct view view;
    double entered = clock_seconds(),
           model = tree_seconds(&team->figures, reduction->count * reduction->bytes);
    /* A trial would fail if the ranks' memory moved in the middle of it. */
    bool soon = pace->trying && pace->latest == APART;
    uint64_t moves = shown_moves.count;
    uint32_t half = team->epoch & 1, trouble = slices_post(team, call, soon, &view);
    double seconds = pace_patience(pace, entered, model, shown_moves.count > moves);
    double began = clock_seconds();
    int verdict = meet(team, pace->met, seconds, &trouble);
    pace_keep(pace, verdict, clock_seconds() - began);
    if (verdict == TOGETHER) {
        enum outcome outcome = slices_go(team, call, &view, half, trouble);
        /* No memory, or an element longer than a slot: the tree can do without. */
        return outcome == LEFT ? algorithm_arrival.run(team, call, arguments) : outcome;
    }
    slices_drop(&view);
    return algorithm_arrival.run(team, call, arguments);
}

/* All ranks change one word, which with a processor for each of many takes long (docs/cores.md). */
static bool either_can(const struct figures *f, const struct calls *calls,
                       const struct arguments *arguments) {
    (void)arguments;
    static const double turn_seconds = 0.2e-6, little = 0.1;
    double meeting = are_spread(f) ? f->p * turn_seconds : 0;
    return f->domains < 2 && meeting < little * slices_cost(f, &calls->least, NULL);
}

const struct algorithm_code algorithm_either = {
    .loose = true,
    .strict = &algorithm_slices,
    .copies_in = true,
    .halves = slices_halves,
    .shared = {meetings * sizeof(struct meeting), sizeof(struct pace)},
    .can = either_can,
    .prepare = slices_prepare,
    .cost = slices_cost,
    .run = either_run};
