/* SPDX-License-Identifier: BSD-3-Clause */
/* processors - the simulated node of processors.h.
 * The scheduler is EEVDF as in Linux 6.18, with equal weights and without groups: of the threads
 * that have had no more than their share the one with the earliest deadline runs; a thread that
 * yields gives up the rest of its slice; the end of a slice is seen at the next tick; a thread that
 * is woken runs at once beside one that asked for longer slices. */
#include "processors.h"

#include "unit.h"

#include <string.h>

static const double us = 1e-6;
/* Linux with 250 ticks per second, on a Xeon in 2026-11: a context switch, a wake-up and what it
 * costs the waker, the way into sleep. */
static const double switch_seconds = 1.3e-6, wake_seconds = 50e-6, waker_seconds = 2e-6,
                    sleep_seconds = 4e-6;
/* Of the MPI library; on an oversubscribed node it yields in its progress, too. */
static const double drive = 0.02e-6, crowded_drive = 4e-6;
static const double slice = 2.8e-3, short_slice = 100e-6;
/* Between two barriers: a call's inside, or a program's own work before every second one. */
static const double inside_seconds = 100e-9;
static const double nothing = 1e-12; /* times are sums of doubles */

const double tick = 4e-3;

struct node node;

/* ---- the scheduler ---- */

static bool waits_on(const struct thread *t, int processor) {
    return t->ready && t->processor == processor;
}

static int ready_on(int processor) {
    int count = 0;
    for (int i = 0; i < node.threads; i++) count += waits_on(&node.thread[i], processor);
    return count;
}

static double share(int processor) {
    double sum = 0;
    int count = ready_on(processor);
    for (int i = 0; i < node.threads; i++)
        if (waits_on(&node.thread[i], processor)) sum += node.thread[i].used;
    return count ? sum / count : 0;
}

/* Nobody is taken from the processor sooner. */
static double protection(int processor) {
    double least = slice;
    for (int i = 0; i < node.threads; i++)
        if (waits_on(&node.thread[i], processor) && node.thread[i].slice < least)
            least = node.thread[i].slice;
    return least;
}

static void pick(int processor) {
    int best = -1;
    double fair = share(processor) + nothing;
    for (int i = 0; i < node.threads; i++) {
        const struct thread *t = &node.thread[i];
        if (!waits_on(t, processor) || t->used > fair) continue;
        if (best < 0 || t->deadline < node.thread[best].deadline) best = i;
    }
    if (best == node.running[processor]) return;
    node.running[processor] = best;
    if (best < 0) return;
    node.thread[best].picked = node.now;
    node.thread[best].left += switch_seconds;
}

static void move(struct thread *t, int processor) {
    double ahead = t->used - share(t->processor), due = t->deadline - t->used;
    t->ready = false;
    t->used = share(processor) + ahead;
    t->deadline = t->used + due;
    t->processor = processor;
    t->ready = true;
    if (node.running[processor] < 0) pick(processor);
}

/* A thread of that processor that is ready and does not run, or NULL. */
static struct thread *one_behind(int processor) {
    struct thread *found[most_threads];
    int count = 0;
    for (int i = 0; i < node.threads; i++)
        if (waits_on(&node.thread[i], processor) && node.running[processor] != i)
            found[count++] = &node.thread[i];
    return count ? found[draw_below(&node.random, (uint32_t)count)] : NULL;
}

static void fill_idle(int processor) {
    for (int other = 0; other < processors && node.running[processor] < 0; other++) {
        struct thread *t = one_behind(other);
        if (t) move(t, processor);
    }
}

/* Where one thread more is ready than elsewhere, some thread goes over now and then. */
static void balance(void) {
    int full = ready_on(1) > ready_on(0), more = ready_on(full) - ready_on(!full);
    node.balanced = node.now;
    if (more < 2 && draw_below(&node.random, 4) > 0) return;
    struct thread *t = more > 0 ? one_behind(full) : NULL;
    if (t) move(t, !full);
}

static void yield(struct thread *t) {
    if (ready_on(t->processor) == 1) return;
    if (t->used <= share(t->processor) + nothing) t->used = t->deadline;
    t->deadline = t->used + t->slice;
    pick(t->processor);
}

static void fall_asleep(struct thread *t, double seconds) {
    t->owed = share(t->processor) - t->used;
    if (t->owed < 0) t->owed = 0;
    if (t->owed > t->slice) t->owed = t->slice;
    t->ready = false;
    t->alarm = node.now + seconds + wake_seconds;
    node.napped = node.now;
    node.naps++;
    pick(t->processor);
    fill_idle(t->processor);
}

static void wake(struct thread *t) {
    for (int other = 0; other < processors && ready_on(t->processor); other++)
        if (ready_on(other) == 0) t->processor = other;
    int processor = t->processor, before = node.running[processor];
    t->used = share(processor) - t->owed;
    t->deadline = t->used + t->slice;
    t->ready = true;
    t->alarm = 0;
    const struct thread *runs = before < 0 ? NULL : &node.thread[before];
    if (!runs || t->slice < runs->slice || node.now - runs->picked >= protection(processor))
        pick(processor);
}

static void ticks(int processor) {
    node.ticks[processor] += tick;
    fill_idle(processor);
    if (node.running[processor] < 0) return;
    struct thread *t = &node.thread[node.running[processor]];
    bool over = t->used >= t->deadline;
    if (over) t->deadline = t->used + t->slice;
    if (over || node.now - t->picked >= protection(processor)) pick(processor);
}

/* ---- the ranks ---- */

static void begin(struct thread *t, int doing, double seconds) {
    t->doing = (unsigned)doing;
    t->left = seconds;
}

static void compute(struct thread *t) {
    bool inside = node.work == 0 || node.barrier % 2 == 1;
    double work = inside ? inside_seconds : node.work;
    if (t == node.thread && node.late > 0 && node.barrier % late_every == 0) work = node.late;
    begin(t, COMPUTES, node.barrier < 4 && node.first > work ? node.first : work);
}

/* As the loop in wait.c. The MPI library yields when it is driven on an oversubscribed node. */
static void go_on(struct thread *t, bool done) {
    struct turn turn = vigil_next(&t->patience, &t->vigil, (uint64_t)(node.now * 1e9), done);
    t->nap = turn.seconds;
    if (done) compute(t);
    else if (turn.what == WATCH) begin(t, WATCHES, 1 * us);
    else if (turn.what == GIVE)
        begin(t, YIELDS, 0.4 * us + turn.drives * (t->patience.crowded ? crowded_drive : drive));
    else begin(t, turn.drives && t->patience.crowded ? YIELDS_TO_NAP : DOZES, sleep_seconds);
}

static void arrive(struct thread *t) {
    t->barrier = node.barrier;
    if (++node.arrived < node.ranks) {
        begin(t, LOOKS, t->patience.crowded ? 0.02 * us : 2 * us);
        return;
    }
    node.arrived = 0;
    node.barrier++;
    compute(t);
    for (int i = 0; i < node.ranks; i++) {
        struct thread *peer = &node.thread[i];
        if (peer->alarm > 0) {
            wake(peer);
            t->left += waker_seconds;
        }
        if ((peer->doing == LOOKS || peer->doing == WATCHES) && peer->left > 0.1 * us)
            peer->left = 0.1 * us;
    }
}

static void act(struct thread *t) {
    bool open = t->barrier != node.barrier;
    if (t->doing == COMPUTES) {
        arrive(t);
    } else if (t->doing == LOOKS && open) {
        patience_watched(&t->patience);
        compute(t);
    } else if (t->doing == LOOKS) {
        uint64_t now = (uint64_t)(node.now * 1e9);
        t->patience.began = now;
        t->patience.gave = patience_gives(&t->patience, now);
        if (t->patience.gave) {
            begin(t, YIELDS, 0.4 * us);
            return;
        }
        t->vigil = vigil_begin(&t->patience, now);
        go_on(t, false);
    } else if (t->doing == HAS_YIELDED && t->patience.gave) {
        if (open && patience_prompt(&t->patience, (uint64_t)(node.now * 1e9))) {
            compute(t);
            return;
        }
        t->vigil = vigil_begin(&t->patience, t->patience.began);
        go_on(t, open);
    } else if (t->doing == YIELDS || t->doing == YIELDS_TO_NAP) {
        begin(t, t->doing == YIELDS ? HAS_YIELDED : DOZES, 0);
        yield(t);
    } else if (t->doing == DOZES && !open) {
        begin(t, SLEEPS, 0);
        fall_asleep(t, t->nap);
    } else {
        go_on(t, open);
    }
}

/* ---- the clock ---- */

static double next_event(void) {
    double next = node.now + tick;
    for (int c = 0; c < processors; c++) {
        if (node.ticks[c] < next) next = node.ticks[c];
        if (node.running[c] < 0) continue;
        double end = node.now + node.thread[node.running[c]].left;
        if (end < next) next = end;
    }
    for (int i = 0; i < node.ranks; i++)
        if (node.thread[i].alarm > 0 && node.thread[i].alarm < next) next = node.thread[i].alarm;
    return next > node.now ? next : node.now;
}

void node_run(int barriers, double until) {
    while (node.barrier < barriers && node.now < until) {
        double next = next_event(), passed = next - node.now;
        node.now = next;
        for (int c = 0; c < processors; c++) {
            if (node.running[c] < 0) continue;
            node.thread[node.running[c]].left -= passed;
            node.thread[node.running[c]].used += passed;
        }
        for (int i = 0; i < node.ranks; i++) {
            struct thread *t = &node.thread[i];
            if (t->alarm > 0 && t->alarm <= node.now + nothing) wake(t);
        }
        for (int c = 0; c < processors; c++) {
            struct thread *t = node.running[c] < 0 ? NULL : &node.thread[node.running[c]];
            if (t && t->rank && t->left <= nothing) act(t);
        }
        for (int c = 0; c < processors; c++)
            if (node.ticks[c] <= node.now + nothing) ticks(c);
        if (node.now - node.balanced > 2 * tick) balance();
    }
}

void node_join(bool rank, int processor, int mode) {
    struct thread *t = &node.thread[node.threads++];
    double used = share(processor);
    *t = (struct thread){.rank = rank, .processor = processor, .used = used};
    t->slice = rank ? short_slice : slice;
    t->deadline = used + t->slice;
    t->ready = true;
    t->left = rank ? inside_seconds : 1e9;
    t->patience = (struct patience){.mode = (unsigned)mode, .tick_rate = 1e9};
    patience_settle(&t->patience, node.ranks, processors);
    if (node.running[processor] < 0) pick(processor);
}

void node_leave(void) {
    struct thread *t = &node.thread[--node.threads];
    t->ready = false;
    if (node.running[t->processor] == node.threads) node.running[t->processor] = -1;
    pick(t->processor);
}

void node_set_up(int ranks, bool together, int mode, uint64_t seed) {
    memset(&node, 0, sizeof node);
    node.ranks = ranks;
    node.random = seed;
    for (int c = 0; c < processors; c++) {
        node.running[c] = -1;
        node.ticks[c] = tick * draw_below(&node.random, 1000) / 1000;
    }
    for (int r = 0; r < ranks; r++) node_join(true, together ? 0 : r % processors, mode);
}
