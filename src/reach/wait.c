/* SPDX-License-Identifier: BSD-3-Clause */
/* wait - the one wait loop: watches the word, yields, or sleeps on a futex, as patience.c decides,
 * and drives the host MPI meanwhile. */
#define _GNU_SOURCE
#include "reach/reach.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    pauses = 100, /* about 2 us, in which another processor may well answer */
    looks = 16,   /* between two drives of the host MPI */
};
/* A drive that takes longer has found work. After a nap an idle PMPI_Test takes 1 to 4 us of
 * processor time, one that meets a message of 64 KiB 7 to 30, of 256 KiB 22 to 60 (Open MPI 4.1,
 * MPICH 4.0; Xeon, 2 cores, 2026-11). */
static const double work_seconds = 5e-6;

static const double doubt_seconds = 1;

void (*wait_doubt)(const struct team *team);

/* Calls wait_doubt every doubt_seconds. */
static inline void question(const struct team *team, uint64_t *asked, uint64_t now) {
    if ((double)(now - *asked) < doubt_seconds * team->patience.tick_rate) return;
    *asked = now;
    if (wait_doubt) wait_doubt(team);
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline bool changed(const struct flag *flag, uint32_t old) { return flag_look(flag) != old; }

static inline void drive(struct team *team) {
    if (team->progress) team->progress(team);
}

void drive_due(struct team *team) {
    drive(team);
    team->patience.driven = clock_ticks();
}

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Drives the host MPI. True: it had work. Measures processor time, because it may yield
 * meanwhile. */
static bool drive_and_look(struct team *team) {
    double before = processor_seconds();
    drive(team);
    return processor_seconds() - before > work_seconds;
}

SHORT_WAY void flag_wake(struct flag *flag) {
    if (atomic_load_explicit(&flag->sleepers, memory_order_seq_cst) != 0)
        syscall(SYS_futex, &flag->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool watch(const struct flag *flag, uint32_t old, int times) {
    for (int i = 0; i < times; i++) {
        if (changed(flag, old)) return true;
        relax();
    }
    return false;
}

static void nap(struct flag *flag, uint32_t old, double seconds) {
    struct timespec limit = {.tv_nsec = (long)(1e9 * seconds)};
    atomic_fetch_add_explicit(&flag->sleepers, 1, memory_order_seq_cst);
    /* Not the private futex: the waker is another process. The kernel compares again under its
     * lock. */
    syscall(SYS_futex, &flag->word, FUTEX_WAIT, old, &limit, NULL, 0);
    atomic_fetch_sub_explicit(&flag->sleepers, 1, memory_order_seq_cst);
}

static inline void give(struct patience *patience) {
    sched_yield();
    patience->yields++;
}

SHORT_WAY bool flag_wait_briefly(struct team *team, struct flag *flag, uint32_t old) {
    struct patience *patience = &team->patience;
    /* Oversubscribed, the peer that we wait for may need this very processor: do not watch. */
    if (watch(flag, old, patience->crowded ? 1 : pauses)) {
        patience_watched(patience);
        return true;
    }
    uint64_t now = clock_ticks();
    patience->began = now;
    patience->gave = patience_gives(patience, now);
    if (!patience->gave) return false;
    give(patience);
    return changed(flag, old) && patience_prompt(patience, clock_ticks());
}

/* The rest of a wait that was not brief. until: in ticks. False: the time is over. */
static bool keep_vigil(struct team *team, struct flag *flag, uint32_t old, uint64_t until) {
    struct patience *patience = &team->patience;
    bool done = patience->gave && changed(flag, old);
    struct vigil vigil = vigil_begin(patience, patience->began);
    uint64_t now, asked = vigil.began;
    for (;;) {
        now = clock_ticks();
        struct turn turn = vigil_next(patience, &vigil, now, done);
        if (done) {
            if (patience_leaves(patience, now)) machine_leave_processor();
            return true;
        }
        if (now >= until) {
            patience->left = now;
            return false;
        }
        question(team, &asked, now);
        if (turn.what == NAP) {
            bool worked = turn.drives && drive_and_look(team);
            done = changed(flag, old);
            if (worked && patience->mode == WAIT_AUTO) vigil_worked(&vigil, clock_ticks());
            else if (!done) {
                double left = (double)(until - now) / patience->tick_rate;
                nap(flag, old, turn.seconds < left ? turn.seconds : left);
                patience->sleeps++;
            }
        } else {
            for (int i = 0; i < turn.drives && !(i > 0 && changed(flag, old)); i++) drive(team);
            if (turn.what == WATCH) {
                watch(flag, old, looks);
            } else {
                if (turn.drives > 1) vigil_yields(&vigil, clock_ticks());
                /* The MPI library may have yielded already, and one yield was enough. */
                if (!changed(flag, old)) give(patience);
            }
        }
        done = changed(flag, old);
    }
}

SHORT_WAY static bool wait_booked(struct team *team, struct flag *flag, uint32_t old,
                                  uint64_t until) {
    struct waits *waits = &team->waits;
    if (waits->on) waits->began = clock_seconds();
    bool done = flag_wait_briefly(team, flag, old) || keep_vigil(team, flag, old, until);
    if (waits->on) {
        waits->length = clock_seconds() - waits->began;
        waits->seconds += waits->length;
    }
    return done;
}

SHORT_WAY uint32_t flag_wait(struct team *team, struct flag *flag, uint32_t old) {
    wait_booked(team, flag, old, UINT64_MAX);
    return flag_look(flag);
}

void flag_wait_longer(struct team *team, struct flag *flag, uint32_t old) {
    keep_vigil(team, flag, old, UINT64_MAX);
}

bool flag_wait_for(struct team *team, struct flag *flag, uint32_t old, double seconds) {
    return wait_booked(team, flag, old,
                       clock_ticks() + (uint64_t)(seconds * team->patience.tick_rate));
}

void wait_until(struct team *team, bool (*done)(void *state), void *state) {
    struct patience *patience = &team->patience;
    uint64_t now = clock_ticks(), asked = now;
    struct vigil vigil = vigil_begin(patience, now);
    while (!done(state)) {
        now = clock_ticks();
        struct turn turn = vigil_next(patience, &vigil, now, false);
        question(team, &asked, now);
        struct timespec nap = {.tv_nsec = 50000}; /* short, because nothing wakes us */
        if (turn.what == GIVE) sched_yield();
        if (turn.what == NAP) nanosleep(&nap, NULL);
    }
    patience->left = clock_ticks();
}
