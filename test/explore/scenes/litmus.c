/* SPDX-License-Identifier: BSD-3-Clause */
/* litmus - small programs whose outcomes under C11 are known (Lahav et al. 2017, Alglave et al.,
 * Herding cats, TOPLAS 2014), to test the explorer itself. A row of explore.py says how many
 * outcomes each has. */
#include "../explore.h"

#include <stdatomic.h>

static _Atomic uint32_t *x, *y;
static uint32_t *plain;
static uint32_t r[most_threads][2];
enum { relaxed = memory_order_relaxed, acquire = memory_order_acquire };
enum { release = memory_order_release, strong = memory_order_seq_cst, both = memory_order_acq_rel };

static void begin(void) {
    x = share(64);
    y = share(64);
    plain = share(64);
    name_memory(x, 4, "x");
    name_memory(y, 4, "y");
    name_memory(plain, 64, "plain");
    for (int t = 0; t < most_threads; t++) r[t][0] = r[t][1] = 9;
}
static void end(void) {
    uint64_t all = 0;
    for (int t = 0; t < most_threads; t++) all = all * 100 + r[t][0] * 10 + r[t][1];
    outcome(all * 100 + word_at_end(x, 4) * 10 + word_at_end(y, 4));
}
#define load(at, order) atomic_load_explicit(at, order)
#define store(at, value, order) atomic_store_explicit(at, value, order)

/* Store buffering: each thread writes one word and reads the other. */
static void sb(int t, memory_order write, memory_order read, bool fence) {
    store(t ? y : x, 1, write);
    if (fence) atomic_thread_fence(strong);
    r[t][0] = load(t ? x : y, read);
}
static void sb_weak(int t) { sb(t, release, acquire, false); }
static void sb_strong(int t) { sb(t, strong, strong, false); }
static void sb_half(int t) { sb(t, strong, t ? acquire : strong, false); }
static void sb_fence(int t) { sb(t, relaxed, relaxed, true); }
/* One thread's fence, the other's strong operations: how the futex meets `sleepers`. */
static void sb_mixed(int t) {
    if (t) sb(t, strong, strong, false);
    else sb(t, relaxed, relaxed, true);
}
/* As sb, but with a step that reads and writes. */
static void sb_add(int t) {
    atomic_fetch_add_explicit(t ? y : x, 1, both);
    r[t][0] = load(t ? x : y, acquire);
}

/* Message passing. */
static void mp(int t, memory_order write, memory_order read) {
    if (t == 0) {
        store(x, 1, relaxed);
        store(y, 1, write);
    } else {
        r[t][0] = load(y, read);
        r[t][1] = load(x, relaxed);
    }
}
static void mp_weak(int t) { mp(t, relaxed, relaxed); }
static void mp_half(int t) { mp(t, release, relaxed); }
static void mp_right(int t) { mp(t, release, acquire); }
static void mp_fence(int t) {
    if (t == 0) {
        store(x, 1, relaxed);
        atomic_thread_fence(release);
        store(y, 1, relaxed);
    } else {
        r[t][0] = load(y, relaxed);
        atomic_thread_fence(acquire);
        r[t][1] = load(x, relaxed);
    }
}
/* A third thread's step keeps the release sequence. */
static void mp_steps(int t) {
    if (t == 0) {
        store(x, 1, relaxed);
        store(y, 1, release);
    } else if (t == 1) atomic_fetch_add_explicit(y, 1, relaxed);
    else {
        r[t][0] = load(y, acquire);
        r[t][1] = load(x, relaxed);
    }
}

/* Load buffering: RC11 forbids that both see 1. */
static void lb(int t) {
    r[t][0] = load(t ? y : x, relaxed);
    store(t ? x : y, 1, relaxed);
}
/* Two threads write both words in opposite order. */
static void two_writes(int t, memory_order order) {
    store(t ? y : x, 1, order);
    store(t ? x : y, 2, order);
}
static void two_weak(int t) { two_writes(t, release); }
static void two_strong(int t) { two_writes(t, strong); }
/* Independent reads of independent writes. */
static void iriw(int t, memory_order order) {
    if (t < 2) store(t ? y : x, 1, order == strong ? strong : release);
    else {
        r[t][0] = load(t == 2 ? x : y, order);
        r[t][1] = load(t == 2 ? y : x, order);
    }
}
static void iriw_weak(int t) { iriw(t, acquire); }
static void iriw_strong(int t) { iriw(t, strong); }
static void iriw_fence(int t) {
    if (t < 2) store(t ? y : x, 1, relaxed);
    else {
        r[t][0] = load(t == 2 ? x : y, relaxed);
        atomic_thread_fence(strong);
        r[t][1] = load(t == 2 ? y : x, relaxed);
    }
}
/* Read to write causality. */
static void rwc_fence(int t) {
    if (t == 0) store(x, 1, relaxed);
    if (t == 1) r[t][0] = load(x, relaxed);
    if (t == 2) store(y, 1, relaxed);
    if (t > 0) atomic_thread_fence(strong);
    if (t == 1) r[t][1] = load(y, relaxed);
    if (t == 2) r[t][0] = load(x, relaxed);
}
/* Two reads of one word do not go back. */
static void corr(int t) {
    if (t < 2) store(x, (uint32_t)t + 1, relaxed);
    else r[t][0] = load(x, relaxed), r[t][1] = load(x, relaxed);
}
static void counter(int t) { r[t][0] = atomic_fetch_add_explicit(x, 1, relaxed); }
static void swap_if(int t) {
    uint32_t seen = 0;
    bool mine = atomic_compare_exchange_strong_explicit(x, &seen, (uint32_t)t + 1, both, acquire);
    r[t][0] = mine;
    if (!mine) r[t][1] = load(y, relaxed);
    else store(y, 1, relaxed);
}
static void waits(int t) {
    if (t == 0) {
        *plain = 5;
        store(x, 1, release);
        store(x, 2, release);
    } else r[t][0] = await_change(x, 0), r[t][1] = *plain;
}
static void waits_for_two(int t) {
    if (t < 2) atomic_fetch_add_explicit(x, 1, both);
    else r[t][0] = await_change(x, 0), r[t][1] = await_change(x, r[t][0] == 1 ? 1 : 0);
}
#define ROW(name)                                                                                  \
    {                                                                                              \
#name, begin, name, end                                                                    \
    }
const struct scene scenes[] = {ROW(sb_weak),  ROW(sb_strong),   ROW(sb_half),      ROW(sb_fence),
                               ROW(sb_mixed), ROW(sb_add),      ROW(mp_weak),      ROW(mp_half),
                               ROW(mp_right), ROW(mp_fence),    ROW(mp_steps),     ROW(lb),
                               ROW(two_weak), ROW(two_strong),  ROW(iriw_weak),    ROW(corr),
                               ROW(counter),  ROW(iriw_strong), ROW(iriw_fence),   ROW(rwc_fence),
                               ROW(swap_if),  ROW(waits),       ROW(waits_for_two)};
const int scene_count = sizeof scenes / sizeof scenes[0];
