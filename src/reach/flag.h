/* SPDX-License-Identifier: BSD-3-Clause */
/* flag.h - a part of reach.h: a word in shared memory that ranks wait on. A rank that sets it wakes
 * the sleepers. */
#ifndef MORTAR_FLAG_H
#define MORTAR_FLAG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct team;

struct flag {
    _Atomic uint32_t word;
    _Atomic uint32_t sleepers; /* ranks that sleep, or are about to */
};

static inline uint32_t flag_look(const struct flag *flag) {
    return atomic_load_explicit(&flag->word, memory_order_acquire);
}

/* ---- wait.c: the one wait loop ---- */
/* Waits until the word differs from `old` and returns it (acquire). Sleeps in the kernel if the
 * wait is long. */
uint32_t flag_wait(struct team *team, struct flag *flag, uint32_t old);
/* The same in two steps, for waits that are not reported: looks at the word for a moment, on a
 * crowded node yields once. False: call flag_wait_longer, which goes on from there. */
bool flag_wait_briefly(struct team *team, struct flag *flag, uint32_t old);
void flag_wait_longer(struct team *team, struct flag *flag, uint32_t old);
/* The same for at most about so long. False: the time is over, and the word may have changed or
 * not. */
bool flag_wait_for(struct team *team, struct flag *flag, uint32_t old, double seconds);
/* Wakes the sleepers, if the word was changed otherwise than by flag_set or flag_add. That change
 * must be sequentially consistent, or a fence that is lies behind it: flags_fence. */
void flag_wake(struct flag *flag);
/* Many words at once: flag_set_quietly for each, flags_fence, flag_wake for each. */
static inline void flag_set_quietly(struct flag *flag, uint32_t value) {
    atomic_store_explicit(&flag->word, value, memory_order_release);
}
static inline void flags_fence(void) { atomic_thread_fence(memory_order_seq_cst); }

/* Sequentially consistent, because the store must be visible before `sleepers` is read: otherwise a
 * rank that is about to sleep is missed. */
static inline void flag_set(struct flag *flag, uint32_t value) {
    atomic_store_explicit(&flag->word, value, memory_order_seq_cst);
    flag_wake(flag);
}
static inline void flag_add(struct flag *flag) {
    atomic_fetch_add_explicit(&flag->word, 1, memory_order_seq_cst);
    flag_wake(flag);
}

/* ---- a word that counts up: the position of one end of a ring ----
 * One rank at a time sets it, never to less, and it wraps. */
static inline bool flag_past(const struct flag *flag, uint32_t least) {
    return (int32_t)(flag_look(flag) - least) >= 0;
}
/* Waits until the count is `least` or more. True if the rank had to wait. */
static inline bool flag_reach(struct team *team, struct flag *flag, uint32_t least) {
    bool waited = false;
    for (uint32_t seen; (int32_t)((seen = flag_look(flag)) - least) < 0; waited = true)
        flag_wait(team, flag, seen);
    return waited;
}

#endif
