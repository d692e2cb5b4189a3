/* SPDX-License-Identifier: BSD-3-Clause */
/* flag.h - a part of reach.h: a word in shared memory that ranks wait on. Whoever sets it wakes
 * those who sleep. */
#ifndef MORTAR_FLAG_H
#define MORTAR_FLAG_H

#include <stdatomic.h>
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
/* Returns when the word is not old any more (acquire); the word as it is then. Sleeps in the kernel
 * if that takes long. */
uint32_t flag_wait(struct team *team, struct flag *flag, uint32_t old);
/* Wakes those who sleep: for a word that was changed otherwise than below, by an operation that is
 * sequentially consistent. */
void flag_wake(struct flag *flag);

/* The store must be seen before the sleepers are counted, or a rank falling asleep is missed: hence
 * sequentially consistent. */
static inline void flag_set(struct flag *flag, uint32_t value) {
    atomic_store_explicit(&flag->word, value, memory_order_seq_cst);
    flag_wake(flag);
}
static inline void flag_add(struct flag *flag) {
    atomic_fetch_add_explicit(&flag->word, 1, memory_order_seq_cst);
    flag_wake(flag);
}

#endif
