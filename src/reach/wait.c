/* SPDX-License-Identifier: BSD-3-Clause */
/* wait - the one wait loop: pause, yield as long as it pays, then sleep on a futex; drive the host MPI meanwhile.
 *
 * Progress: a peer may sit in MPI_Recv of a message whose rendezvous needs this rank (MPI 4.1 section 2.9), so every wait that is
 * not short calls team->progress.
 * Yielding on a crowded node costs one context switch per rank and barrier, as long as only waiting ranks are ready to run. With
 * a stranger on the processor each yield may cost the stranger's time slice, where a sleeper is scheduled at once when it is
 * woken. So a yield that comes back late sends the next waits to sleep early; how many grows while the stranger stays. */
#define _GNU_SOURCE
#include "reach/reach.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    pauses = 100,         /* about 2 us: another processor is about to answer */
    short_yields = 10,    /* before sleep when yielding does not pay */
    yields_per_poll = 16, /* the host MPI is driven this often while yielding */
    first_sleepy = 64,
    most_sleepy = 4096,
};
static const double spin_seconds = 50e-6;                   /* with a processor per rank: longer than any short exchange */
static const double yield_seconds = 2e-3;                   /* a longer wait is imbalance, not synchronisation */
static const double stolen_seconds = 400e-6;                /* a yield this long ran a stranger: 64 ranks come round in 60 us */
static const long first_nap = 50000, longest_nap = 4000000; /* ns: also how late the host MPI may be driven */

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline bool changed(_Atomic uint32_t *word, uint32_t old) { return atomic_load_explicit(word, memory_order_acquire) != old; }

static inline void drive(struct team *team) {
    if (team->progress) team->progress(team);
}

HOT void wait_wake(_Atomic uint32_t *word, _Atomic uint32_t *sleepers) {
    if (atomic_load_explicit(sleepers, memory_order_seq_cst) != 0) syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool spin(struct team *team, _Atomic uint32_t *word, uint32_t old, double limit) {
    double until = clock_seconds() + limit;
    do {
        for (int i = 0; i < 64; i++) {
            if (changed(word, old)) return true;
            relax();
        }
        drive(team);
    } while (clock_seconds() < until);
    return false;
}

/* Gives the processor away until the word changes or yielding no longer pays. */
HOT static bool yield(struct team *team, _Atomic uint32_t *word, uint32_t old) {
    struct patience *patience = &team->patience;
    bool forever = patience->mode == WAIT_YIELD;
    bool sleepy = !forever && patience->sleepy > 0;
    if (sleepy) patience->sleepy--;
    uint64_t start = clock_ticks(), before = start;
    const uint64_t stolen = (uint64_t)(stolen_seconds * patience->tick_rate),
                   most = (uint64_t)(yield_seconds * patience->tick_rate);
    for (int i = 1;; i++) {
        sched_yield();
        patience->yields++;
        bool done = changed(word, old);
        if (sleepy) {
            if (done || i == short_yields) return done;
            continue;
        }
        uint64_t now = clock_ticks();
        if (now - before > stolen && !forever) { /* measured also when done: that yield was late */
            patience->sleepy = patience->sleepy_again;
            if (patience->sleepy_again < most_sleepy) patience->sleepy_again *= 2;
            return done;
        }
        if (done) {
            if (patience->sleepy_again > first_sleepy) patience->sleepy_again--;
            return true;
        }
        if (!forever && now - start > most) return false;
        if (i % yields_per_poll == 0) drive(team);
        before = now;
    }
}

static void nap(_Atomic uint32_t *word, uint32_t old, long nanoseconds, _Atomic uint32_t *sleepers) {
    struct timespec limit = {.tv_nsec = nanoseconds};
    atomic_fetch_add_explicit(sleepers, 1, memory_order_seq_cst);
    /* Not the private futex: the waker is another process. The kernel compares again under its lock. */
    syscall(SYS_futex, word, FUTEX_WAIT, old, &limit, NULL, 0);
    atomic_fetch_sub_explicit(sleepers, 1, memory_order_seq_cst);
}

HOT static void wait_patiently(struct team *team, _Atomic uint32_t *word, uint32_t old, _Atomic uint32_t *sleepers) {
    struct patience *patience = &team->patience;
    /* On a crowded node whoever we wait for may need this very processor: no pause at all. */
    for (int i = 0; i < (patience->crowded ? 1 : pauses); i++) {
        if (changed(word, old)) return;
        relax();
    }
    while (patience->mode == WAIT_SPIN)
        if (spin(team, word, old, spin_seconds)) return;
    if (patience->mode == WAIT_AUTO && !patience->crowded && spin(team, word, old, spin_seconds)) return;
    if (patience->mode != WAIT_FUTEX && yield(team, word, old)) return;
    for (long length = first_nap; !changed(word, old); length = length < longest_nap ? length * 2 : length) {
        drive(team);
        if (changed(word, old)) return;
        nap(word, old, length, sleepers);
        patience->sleeps++;
    }
}

HOT void wait_change(struct team *team, _Atomic uint32_t *word, uint32_t old, _Atomic uint32_t *sleepers) {
    struct waits *waits = &team->waits;
    if (waits->on) waits->began = clock_seconds();
    wait_patiently(team, word, old, sleepers);
    if (waits->on) waits->seconds += waits->length = clock_seconds() - waits->began;
}

void wait_until(struct team *team, bool (*done)(void *state), void *state) {
    double until = clock_seconds() + (team->patience.crowded ? 0 : spin_seconds);
    do
        if (done(state)) return;
    while (clock_seconds() < until);
    until += yield_seconds;
    while (!done(state)) {
        sched_yield();
        if (clock_seconds() < until) continue;
        struct timespec nap = {.tv_nsec = first_nap}; /* nobody wakes us, so naps stay short */
        nanosleep(&nap, NULL);
    }
}
