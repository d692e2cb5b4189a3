/* SPDX-License-Identifier: BSD-3-Clause */
/* hooks - what the compiler calls for each access in the library's sources; and the waiting of a
 * rank that has a core of its own, in place of src/reach/wait.c. */
#include "cores.h"

#include "reach/reach.h"

#include <stdarg.h>
#include <string.h>

/* Not while teams are made, outside of all ranks. */
static void access(const volatile void *at, enum access what) {
    if (rank_now >= 0) line_access(at, what);
}

/* ---- accesses that are not atomic ---- */

#define ACCESS(bytes)                                                                              \
    void __tsan_read##bytes(void *at);                                                             \
    void __tsan_write##bytes(void *at);                                                            \
    void __tsan_unaligned_read##bytes(void *at);                                                   \
    void __tsan_unaligned_write##bytes(void *at);                                                  \
    void __tsan_read##bytes(void *at) { access(at, LOAD); }                                        \
    void __tsan_write##bytes(void *at) { access(at, STORE); }                                      \
    void __tsan_unaligned_read##bytes(void *at) { access(at, LOAD); }                              \
    void __tsan_unaligned_write##bytes(void *at) { access(at, STORE); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

static void copy(const void *at, size_t bytes, bool stores) {
    if (rank_now >= 0) lines_copy(at, bytes, stores);
}

void __tsan_read_range(void *at, size_t bytes);
void __tsan_write_range(void *at, size_t bytes);
void __tsan_read_range(void *at, size_t bytes) { copy(at, bytes, false); }
void __tsan_write_range(void *at, size_t bytes) { copy(at, bytes, true); }

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}

/* The sources are compiled with these names in place of the library's. */
void *cores_memcpy(void *to, const void *from, size_t bytes);
void *cores_memset(void *to, int value, size_t bytes);
int cores_memcmp(const void *a, const void *b, size_t bytes);

void *cores_memcpy(void *to, const void *from, size_t bytes) {
    copy(from, bytes, false);
    copy(to, bytes, true);
    return memcpy(to, from, bytes);
}
void *cores_memset(void *to, int value, size_t bytes) {
    copy(to, bytes, true);
    return memset(to, value, bytes);
}
int cores_memcmp(const void *a, const void *b, size_t bytes) {
    copy(a, bytes, false);
    copy(b, bytes, false);
    return memcmp(a, b, bytes);
}

/* In place of the compiler's. */
void cores_prefetch(const void *at);
void cores_prefetch(const void *at) {
    if (rank_now >= 0) line_soon(at);
}

/* ---- atomic operations ---- */

#define FETCH(bits, name, expression)                                                              \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, \
                                                int order);                                        \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, \
                                                int order) {                                       \
        (void)order;                                                                               \
        access(at, MODIFY);                                                                        \
        uint##bits##_t old = *at;                                                                  \
        *at = (uint##bits##_t)(expression);                                                        \
        return old;                                                                                \
    }
#define SWAP_WHEN(bits, name)                                                                      \
    int __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t *expected,        \
                                     uint##bits##_t value, int order, int failed);                 \
    int __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t *expected,        \
                                     uint##bits##_t value, int order, int failed) {                \
        (void)order, (void)failed;                                                                 \
        access(at, MODIFY);                                                                        \
        uint##bits##_t old = *at, wanted = *expected;                                              \
        if (old == wanted) *at = value;                                                            \
        *expected = old;                                                                           \
        return old == wanted;                                                                      \
    }
#define ATOMICS(bits)                                                                              \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order);       \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order) {      \
        (void)order;                                                                               \
        access(at, LOAD);                                                                          \
        return *at;                                                                                \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value,            \
                                     int order);                                                   \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value,            \
                                     int order) {                                                  \
        access(at, order == __ATOMIC_SEQ_CST ? STORE_IN_SEQUENCE : STORE);                         \
        *at = value;                                                                               \
    }                                                                                              \
    FETCH(bits, exchange, value)                                                                   \
    FETCH(bits, fetch_add, old + value)                                                            \
    FETCH(bits, fetch_sub, old - value)                                                            \
    FETCH(bits, fetch_or, old | value)                                                             \
    FETCH(bits, fetch_and, old &value)                                                             \
    FETCH(bits, fetch_xor, old ^ value)                                                            \
    SWAP_WHEN(bits, compare_exchange_strong)                                                       \
    SWAP_WHEN(bits, compare_exchange_weak)
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_thread_fence(int order) {
    if (order == __ATOMIC_SEQ_CST && rank_now >= 0) line_fence();
}
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* ---- waiting ---- */

void (*wait_doubt)(const struct team *team);

/* Looks all the time: sees a new value as soon as the line comes. */
uint32_t flag_wait(struct team *team, struct flag *flag, uint32_t old) {
    (void)team;
    for (;;) {
        line_access(&flag->word, LOAD);
        uint32_t seen = atomic_load_explicit(&flag->word, memory_order_relaxed);
        if (seen != old) return seen;
        line_await(&flag->word);
    }
}

/* There is no longer wait. */
bool flag_wait_briefly(struct team *team, struct flag *flag, uint32_t old) {
    flag_wait(team, flag, old);
    return true;
}
void flag_wait_longer(struct team *team, struct flag *flag, uint32_t old) {
    (void)team, (void)flag, (void)old;
}

/* Ranks have time: nobody comes late. */
bool flag_wait_for(struct team *team, struct flag *flag, uint32_t old, double seconds) {
    (void)seconds;
    flag_wait(team, flag, old);
    return true;
}

/* The sleepers are in the line that was just set; nobody sleeps. */
void flag_wake(struct flag *flag) { line_access(&flag->sleepers, LOAD); }

void wait_until(struct team *team, bool (*done)(void *state), void *state) {
    (void)team;
    while (!done(state)) rank_advance(rank_time() + machine.touch), rank_turn();
}
