/* SPDX-License-Identifier: BSD-3-Clause */
/* hooks - what the compiler calls for the accesses of the explored sources, in place of the thread
 * sanitizer, and what they call of the system: copying memory, and futexes.
 *
 * A futex is two steps. The kernel looks at the word again and puts the caller among the sleepers
 * of that address, both under a lock; a wake-up takes the same lock. Here a hidden word counts the
 * wake-ups of an address. FUTEX_WAIT reads it, compares the word and waits for the count to change;
 * FUTEX_WAKE adds one. Both have the full barriers of the kernel (kernel/futex/waitwake.c) and
 * nothing that would order the callers' other accesses. */
#include "inside.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

static bool shared(const volatile void *at) { return current >= 0 && is_shared((uintptr_t)at); }

static uint64_t atomic(int what, const volatile void *at, unsigned bytes, uint64_t value,
                       uint64_t expected, int order) {
    race_atomic((uintptr_t)at, bytes);
    uint64_t mask = bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1;
    uint64_t old = perform((struct request){.what = (unsigned)what,
                                            .order = (uint8_t)order,
                                            .word = word_of(at, bytes),
                                            .value = value,
                                            .expected = expected});
    return old & mask;
}

#define FETCH(bits, name, what)                                                                    \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, \
                                                int order);                                        \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, \
                                                int order) {                                       \
        if (!shared(at)) {                                                                         \
            uint##bits##_t old = *at;                                                              \
            *at = (uint##bits##_t)changed(what, old, value);                                       \
            return old;                                                                            \
        }                                                                                          \
        return (uint##bits##_t)atomic(what, at, bits / 8, value, 0, order);                        \
    }
#define SWAP_WHEN(bits, name)                                                                      \
    int __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t *expected,        \
                                     uint##bits##_t value, int order, int failed);                 \
    int __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t *expected,        \
                                     uint##bits##_t value, int order, int failed) {                \
        (void)failed;                                                                              \
        uint##bits##_t wanted = *expected;                                                         \
        uint##bits##_t old = *at;                                                                  \
        if (shared(at)) old = (uint##bits##_t)atomic(SWAP_IF, at, bits / 8, value, wanted, order); \
        else if (old == wanted) *at = value;                                                       \
        *expected = old;                                                                           \
        return old == wanted;                                                                      \
    }
#define ATOMICS(bits)                                                                              \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order);       \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order) {      \
        return shared(at) ? (uint##bits##_t)atomic(LOAD, at, bits / 8, 0, 0, order) : *at;         \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value,            \
                                     int order);                                                   \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value,            \
                                     int order) {                                                  \
        if (shared(at)) atomic(STORE, at, bits / 8, value, 0, order);                              \
        else *at = value;                                                                          \
    }                                                                                              \
    FETCH(bits, exchange, SWAP)                                                                    \
    FETCH(bits, fetch_add, ADD)                                                                    \
    FETCH(bits, fetch_sub, SUB)                                                                    \
    FETCH(bits, fetch_or, OR)                                                                      \
    FETCH(bits, fetch_and, AND)                                                                    \
    FETCH(bits, fetch_xor, XOR)                                                                    \
    SWAP_WHEN(bits, compare_exchange_strong)                                                       \
    SWAP_WHEN(bits, compare_exchange_weak)

static uint64_t changed(int what, uint64_t old, uint64_t value) {
    return request_result(&(struct request){.what = (unsigned)what, .value = value}, old);
}
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

static void fence(int order) {
    perform((struct request){.what = BARRIER, .order = (uint8_t)order, .word = -1});
}
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) {
    if (current >= 0) fence(order);
}
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* ---- accesses that are not atomic ---- */

#define ACCESS(bytes)                                                                              \
    void __tsan_read##bytes(void *at);                                                             \
    void __tsan_write##bytes(void *at);                                                            \
    void __tsan_unaligned_read##bytes(void *at);                                                   \
    void __tsan_unaligned_write##bytes(void *at);                                                  \
    void __tsan_read##bytes(void *at) { race_access((uintptr_t)at, bytes, false); }                \
    void __tsan_write##bytes(void *at) { race_access((uintptr_t)at, bytes, true); }                \
    void __tsan_unaligned_read##bytes(void *at) { race_access((uintptr_t)at, bytes, false); }      \
    void __tsan_unaligned_write##bytes(void *at) { race_access((uintptr_t)at, bytes, true); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void __tsan_read_range(void *at, size_t bytes);
void __tsan_write_range(void *at, size_t bytes);
void __tsan_read_range(void *at, size_t bytes) { race_access((uintptr_t)at, bytes, false); }
void __tsan_write_range(void *at, size_t bytes) { race_access((uintptr_t)at, bytes, true); }
void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}

/* The explored sources are compiled with these names in place of the library's. */
void *explored_memcpy(void *to, const void *from, size_t bytes);
void *explored_memset(void *to, int value, size_t bytes);
int explored_memcmp(const void *a, const void *b, size_t bytes);
long explored_syscall(long number, ...);

void *explored_memcpy(void *to, const void *from, size_t bytes) {
    race_access((uintptr_t)from, bytes, false);
    race_access((uintptr_t)to, bytes, true);
    return memcpy(to, from, bytes);
}
void *explored_memset(void *to, int value, size_t bytes) {
    race_access((uintptr_t)to, bytes, true);
    return memset(to, value, bytes);
}

/* Where clang copies a struct. */
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes);
void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
    return explored_memcpy(to, from, bytes);
}
void *__tsan_memset(void *to, int value, size_t bytes) { return explored_memset(to, value, bytes); }

int explored_memcmp(const void *a, const void *b, size_t bytes) {
    race_access((uintptr_t)a, bytes, false);
    race_access((uintptr_t)b, bytes, false);
    return memcmp(a, b, bytes);
}

/* ---- futexes ---- */

static long futex_wait(const volatile void *word, uint32_t old) {
    const char *count = (const char *)(uintptr_t)word + 1;
    uint64_t seen = atomic(LOAD, count, 4, 0, 0, memory_order_relaxed);
    fence(memory_order_seq_cst);
    if ((uint32_t)atomic(LOAD, word, 4, 0, 0, memory_order_relaxed) != old) {
        errno = EAGAIN;
        return -1;
    }
    atomic(AWAIT, count, 4, 0, seen, memory_order_relaxed);
    return 0;
}

static long futex_wake(const volatile void *word) {
    fence(memory_order_seq_cst);
    atomic(ADD, (const char *)(uintptr_t)word + 1, 4, 1, 0, memory_order_relaxed);
    return 0;
}

__attribute__((weak)) long scene_syscall(long number, va_list list) {
    (void)number, (void)list;
    fault("a system call that the explorer does not know");
}

long explored_syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    if (number != SYS_futex) {
        long result = scene_syscall(number, list);
        va_end(list);
        return result;
    }
    const volatile void *word = va_arg(list, const volatile void *);
    int what = va_arg(list, int);
    uint32_t value = va_arg(list, uint32_t);
    va_end(list);
    if (what == FUTEX_WAKE && value != INT32_MAX) fault("a wake-up that leaves sleepers");
    return what == FUTEX_WAIT ? futex_wait(word, value) : futex_wake(word);
}

/* ---- for scenes ---- */

uint32_t await_change(const volatile void *word, uint32_t old) {
    return (uint32_t)atomic(AWAIT, word, 4, 0, old, memory_order_acquire);
}

void expect(bool fine, const char *what) {
    if (!fine) fault(what);
}

int thread_now(void) { return current; }

uint64_t word_at_end(const volatile void *word, unsigned bytes) {
    int w = word_of(word, bytes);
    return graph_value(&now, w, now.writes[w]);
}
