/* SPDX-License-Identifier: BSD-3-Clause */
/* gate.h - a barrier in shared memory: one counter that is never reset, and one word that says how
 * often all have passed. */
#ifndef MORTAR_BENCH_GATE_H
#define MORTAR_BENCH_GATE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gate {
    _Alignas(64) _Atomic uint32_t arrived;
    _Alignas(64) _Atomic uint32_t passed;
};

/* The number of the barrier that comes next, to be asked before arriving. */
static inline uint32_t gate_number(struct gate *gate) {
    return atomic_load_explicit(&gate->passed, memory_order_relaxed);
}

/* True: I am the last, and the others wait until I open. */
static inline bool gate_arrive(struct gate *gate, uint32_t p, uint32_t number) {
    return atomic_fetch_add_explicit(&gate->arrived, 1, memory_order_acq_rel) + 1 ==
           (number + 1) * p;
}

static inline void gate_open(struct gate *gate, uint32_t number) {
    atomic_store_explicit(&gate->passed, number + 1, memory_order_release);
}

static inline bool gate_passed(struct gate *gate, uint32_t number) {
    return atomic_load_explicit(&gate->passed, memory_order_acquire) != number;
}

/* Waits as politely as it is fast: with a processor for each rank it spins, and yields only when
 * that takes long. */
static inline void gate_wait(struct gate *gate, uint32_t number, bool crowded) {
    for (int spins = 0; !gate_passed(gate, number); spins++) {
        if (crowded || spins > 2000) sched_yield();
#if defined(__x86_64__)
        else __builtin_ia32_pause();
#endif
    }
}

static inline void gate_pass(struct gate *gate, uint32_t p, bool crowded) {
    uint32_t number = gate_number(gate);
    if (gate_arrive(gate, p, number)) gate_open(gate, number);
    else gate_wait(gate, number, crowded);
}

#endif
