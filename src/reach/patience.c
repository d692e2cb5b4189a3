/* SPDX-License-Identifier: BSD-3-Clause */
/* patience - decides what a waiting rank does next: watch, yield or sleep, and whether to drive the
 * host MPI. It reads no clock and waits for nothing itself, so that a test can simulate hours of
 * waiting.
 *
 * Long waits. A peer may be inside MPI_Ssend of a message that needs this rank's MPI library (MPI
 * 4.1 section 2.9). The library's own wait would serve it as soon as this rank has a processor, and
 * so must this one. While yields return promptly, sleeping would help nobody: the rank keeps
 * yielding and drives the library each time. A yield that returns late has let a computing process
 * run. If such yields fill most of a window of time, the rank sleeps instead, about as long as that
 * process's time slice, and now and then tries whether yields are prompt again. If the library had
 * something to do, the rank yields again, because more messages are likely.
 *
 * Short waits. With a processor per rank the rank watches first. If a yield then ends the wait at
 * once, the peer needed this very processor, and the next watching is half as long. On an
 * oversubscribed node the rank yields at once, which costs one context switch per rank and barrier,
 * if only waiting ranks are ready to run. With another process on the processor a yield costs that
 * process's time slice, and two ranks that yield to such processes may take their turns at
 * different times for ever. A sleeper, though, is scheduled as soon as it is woken (with short
 * slices, machine_short_slices), and then both run. So after a yield that returns very late waits
 * sleep instead of yielding, after the same watching. Then yields are tried again. What is lost to
 * late yields so is bounded by a fraction of the time, as in the ski-rental problem. Sleep costs,
 * too: with 32 ranks on a processor a barrier in which all sleep takes longer than one beside a
 * stranger who takes all his slices. So waits sleep only if late yields have lost more than that
 * lately.
 *
 * No waits. A rank that always comes last does not wait, and in a short wait the library is not
 * driven. Yet a message that it sends meanwhile, or a nonblocking call, natively gets on with each
 * call. So the library is driven behind a call if that was not done for a while. */
#include "reach/patience.h"

enum {
    /* With a processor per rank; many, because some MPI libraries serve a call in many steps. */
    drives_per_yield = 64,
    /* In short waits, oversubscribed; few drives, because the MPI library itself may yield. */
    crowded_yields_per_drive = 16,
    most_haste = 6, /* 50 us / 2^6 is less than a turn */
    first_bears = 8,
    most_bears = 4096,
    coin = 6, /* ticks of some 30 ns */
    /* Times what a late yield took, for each rank, because all ranks wait for the one that tries.
     * In test/unit/strangers.c 4, 8 and 16 are alike. */
    most_sleep = 4,
    /* What so many waits cost more in sleep may be lost at once. A late yield of 3 ms is more than
     * that with up to 8 ranks on a processor. */
    bearable_waits = 16,
    /* Waits until a long work no longer counts: more than a program has between two long works. */
    work_fades = 16,
};
/* With a processor per rank: longer than any short exchange. */
static const double spin_seconds = 50e-6;
static const double yield_seconds = 2e-3; /* a longer wait is imbalance, not synchronisation */
/* The longest time between two drives while yields are prompt: how long a message may wait. */
static const double drive_seconds = 50e-6;
/* The longest time between two drives while no wait is long. Idle, and with cold caches, a drive
 * takes some 2 us. Times the square of the ranks that share the processor, since some MPI libraries
 * yield when they are driven, and a turn of all ranks is lost. */
static const double rest_seconds = 200e-6;
/* A yield this much longer than twice the usual has run another process: less than a slice of
 * another program, 2.8 ms, with up to 32 ranks per processor. The more there are, the likelier is
 * that some of them take longer than they did, or have come over from another processor. */
static const double least_stolen = 400e-6, stolen_per_rank = 60e-6;
/* The most that counts as usual. A wait this long may well end with a wake-up. */
static const double most_usual = 20e-3;
static const double window_seconds = 1e-3;
/* A prompt yield takes at most prompt_seconds, and for each waiting rank per processor turn_seconds
 * and what this rank works between two waits. With 2 ranks per processor that is always less than a
 * slice of 100 us, with 32 if they work little. Many ranks work longer in a call, on more blocks:
 * 64 ranks on 2 processors 80 us in an alltoall of 4 KiB, which took 5.1 ms when they slept. */
static const double prompt_seconds = 20e-6, turn_seconds = 3e-6, most_work = 30e-6;
enum { few_per_processor = 8 };
static const double first_nap = 50e-6;
/* What a wait costs more if all sleep: for each rank of the processor wake_per_rank times their
 * number, at most most_wake. Beside a stranger and on 2 processors barriers of 4, 8, 16, 32 and 64
 * ranks that sleep took 15 to 47, 105 to 120, 215 to 320, 600 to 630 and 1400 to 1520 us (EPYC,
 * Linux 6.18, 2026-11). */
static const double wake_per_rank = 3e-6, most_wake = 25e-6;
/* The kernel's default time slice is 0.7 to 3 ms. A wake-up costs some 5 us of processor time. So
 * the naps of all ranks of a processor together cost at most a twentieth of it. */
static const double least_nap = 400e-6, most_nap = 3.2e-3, nap_per_rank = 100e-6;

void patience_settle(struct patience *patience, int ranks, int processors) {
    patience->ranks = ranks;
    patience->crowded = ranks > processors;
    patience->per_processor = (double)ranks / processors;
    patience->prompt = (uint64_t)(least_stolen * patience->tick_rate);
    double turns = patience->crowded ? patience->per_processor : 1;
    patience->rest = (uint64_t)(rest_seconds * turns * turns * patience->tick_rate);
}

static inline bool patience_longer(const struct patience *patience, uint64_t ticks,
                                   double seconds) {
    return (double)ticks > seconds * patience->tick_rate;
}

/* A wait begins. */
static inline void note_work(struct patience *patience, uint64_t now) {
    uint64_t work = now - patience->left;
    if (patience->left == 0) return; /* not known yet */
    patience->work -= patience->work / work_fades;
    if (work <= patience->work) return;
    uint64_t most = (uint64_t)(most_usual * patience->tick_rate);
    patience->work = work < most ? work : most;
}

/* Oversubscribed, a yield lasts until the peers on this processor have done in their turns what
 * this rank does between two waits: the work before this wait, or behind it, if peers have left. */
static uint64_t usual_yield(struct patience *patience, uint64_t now) {
    if (!patience->crowded) return 0;
    note_work(patience, now);
    double peers = patience->per_processor * (double)patience->work;
    double most = most_usual * patience->tick_rate;
    return (uint64_t)(peers < most && patience->left > 0 ? peers : most);
}

struct vigil vigil_begin(struct patience *patience, uint64_t began) {
    struct vigil vigil = {.began = began, .turned = began, .driven = began, .nap = first_nap};
    vigil.usual = usual_yield(patience, began);
    if (patience->mode == WAIT_FUTEX) vigil.stage = SLEEPING;
    if (patience->mode == WAIT_YIELD || (patience->mode == WAIT_AUTO && patience->crowded))
        vigil.stage = YIELDING;
    if (patience->gave) vigil.last = GIVE, vigil.yields = 1;
    patience->gave = false;
    return vigil;
}

/* Begins the stage of polling, with a new window: after a short wait, or after sleep. */
static void poll(struct vigil *vigil, uint64_t now) {
    vigil->stage = POLLING;
    vigil->since = now;
    vigil->lost = 0;
}

/* A short wait sleeps instead of yielding. It will be woken, and a nap that ends sooner is in the
 * way of others. */
static void doze(const struct patience *patience, struct vigil *vigil) {
    vigil->stage = SLEEPING;
    vigil->until = patience->brief.until;
    vigil->nap = least_nap;
}

/* After a late yield: for how long waits sleep. As long as the yield took; twice as long as the
 * last time, if yields were prompt only briefly since. */
static void patience_avoid(struct patience *patience, struct rest *rest, uint64_t now,
                           uint64_t took) {
    uint64_t most = (uint64_t)(most_sleep * patience->ranks) * took;
    bool again = now < rest->until + 2 * (rest->span + took);
    uint64_t next = again && 2 * rest->span > took ? 2 * rest->span : took;
    rest->span = next < most ? next : most;
    rest->until = now + rest->span;
    patience->haste = 0;
}

/* Ticks that a wait costs more if all sleep. */
static uint64_t sleep_cost(const struct patience *patience) {
    double wake = wake_per_rank * patience->per_processor;
    if (wake > most_wake) wake = most_wake;
    return (uint64_t)(wake * patience->per_processor * patience->tick_rate);
}

/* Late yields have taken so much. If the waits lately would have cost less in sleep, short ones
 * sleep from now on: true. */
static bool patience_loses(struct patience *patience, uint64_t now, uint64_t took) {
    uint64_t bearable = bearable_waits * sleep_cost(patience);
    patience->lost = (patience->lost < bearable ? patience->lost : bearable) + took;
    if (patience->lost <= bearable) return false;
    patience_avoid(patience, &patience->brief, now, took);
    return true;
}

/* A yield has ended a wait: so much less was lost than in sleep. */
static void patience_spares(struct patience *patience) {
    uint64_t spared = sleep_cost(patience);
    patience->lost -= patience->lost < spared ? patience->lost : spared;
}

SHORT_WAY bool patience_prompt(struct patience *patience, uint64_t now) {
    if (now - patience->began > patience->prompt) return false;
    note_work(patience, patience->began);
    if (patience->lost) patience_spares(patience);
    patience->left = now;
    patience->gave = false;
    return true;
}

/* After a yield of a short wait. */
HOT static void patience_judge(struct patience *patience, struct vigil *vigil, uint64_t now,
                               uint64_t took, bool done) {
    if (patience->mode != WAIT_AUTO) return;
    uint64_t waited = now - vigil->began, usual = vigil->usual;
    double stolen = stolen_per_rank * patience->per_processor;
    if (stolen < least_stolen) stolen = least_stolen;
    if (took > 2 * usual && patience_longer(patience, took - 2 * usual, stolen)) {
        /* Even if the wait is over. */
        if (patience_loses(patience, now, took)) doze(patience, vigil);
    } else if (done) {
        if (patience->lost) patience_spares(patience);
        if (vigil->yields == 1) patience->shared++;
        if (vigil->yields == 1 && patience->haste < most_haste) patience->haste++;
    } else if (waited > usual && patience_longer(patience, waited - usual, yield_seconds)) {
        poll(vigil, now);
    }
}

/* Both peers come here at about the same time, and only one of them should leave: the clock's low
 * bits are a coin. Where leaving does not help, it is tried ever more rarely. */
bool patience_leaves(struct patience *patience, uint64_t now) {
    if (patience->crowded || patience->mode != WAIT_AUTO) return false;
    if (patience->bears == 0) patience->bears = first_bears;
    if (patience->shared < patience->bears) return false;
    patience->shared = 0;
    if (patience->bears < most_bears) patience->bears *= 2;
    return now >> coin & 1;
}

/* After a yield of a long wait. */
static void weigh(struct patience *patience, struct vigil *vigil, uint64_t now, uint64_t took) {
    double work = (double)patience->work / patience->tick_rate;
    double more = patience->per_processor / few_per_processor, most = most_work;
    if (more > 1) most *= more;
    double turn = turn_seconds + (work < most ? work : most);
    if (patience_longer(patience, took, prompt_seconds + turn * patience->per_processor))
        vigil->lost += took;
    if (!patience_longer(patience, now - vigil->since, window_seconds)) return;
    uint64_t lost = vigil->lost;
    bool late = 2 * lost > now - vigil->since;
    poll(vigil, now);
    if (!late) return;
    patience_loses(patience, now, lost);
    patience_avoid(patience, &patience->lasting, now, lost);
    vigil->stage = SLEEPING;
    vigil->until = patience->lasting.until;
}

static void after_nap(const struct patience *patience, struct vigil *vigil, uint64_t now) {
    double most = nap_per_rank * patience->per_processor;
    if (most < least_nap) most = least_nap;
    if (most > most_nap) most = most_nap;
    vigil->nap = 2 * vigil->nap < most ? 2 * vigil->nap : most;
    if (patience->mode == WAIT_AUTO && now >= vigil->until) poll(vigil, now);
}

void vigil_worked(struct vigil *vigil, uint64_t now) {
    poll(vigil, now);
    vigil->turned = now;
    vigil->last = WATCH;
    vigil->nap = first_nap;
}

static inline int turn_in(int stage) {
    if (stage == WATCHING) return WATCH;
    return stage == SLEEPING ? NAP : GIVE;
}

/* How often to drive the host MPI now. Oversubscribed, the MPI library itself may yield then, which
 * would be too often for a short wait. Where a peer needs this processor, it would wait for it. */
static inline int drives_due(const struct patience *patience, const struct vigil *vigil,
                             uint64_t now) {
    bool yields = vigil->stage == YIELDING, needed = yields && patience->haste > 0;
    if (!patience->crowded && !needed)
        return yields || vigil->stage == POLLING ? drives_per_yield : 1;
    return vigil->stage == WATCHING || vigil->stage == POLLING ||
           (yields && vigil->yields % crowded_yields_per_drive == 0) ||
           patience_longer(patience, now - vigil->driven, drive_seconds);
}

HOT struct turn vigil_next(struct patience *patience, struct vigil *vigil, uint64_t now,
                           bool done) {
    uint64_t took = now - vigil->turned;
    if (done) patience->left = now;
    if (vigil->last == GIVE && vigil->stage == YIELDING)
        patience_judge(patience, vigil, now, took, done);
    else if (vigil->last == GIVE) weigh(patience, vigil, now, took);
    else if (vigil->last == NAP) after_nap(patience, vigil, now);
    else if (done) patience_watched(patience);
    else if (vigil->stage == WATCHING && patience->mode == WAIT_AUTO &&
             patience_longer(patience, (now - vigil->began) << patience->haste, spin_seconds))
        vigil->stage = YIELDING;
    if (vigil->stage == YIELDING) {
        if (vigil->yields == 0 && patience->mode == WAIT_AUTO && now < patience->brief.until)
            doze(patience, vigil);
        else vigil->yields++;
    }
    int drives = drives_due(patience, vigil, now);
    if (drives) vigil->driven = patience->driven = now;
    vigil->turned = now;
    vigil->last = turn_in(vigil->stage);
    return (struct turn){vigil->last, drives, vigil->nap};
}
