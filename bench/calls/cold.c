/* SPDX-License-Identifier: BSD-3-Clause */
/* cold - what stands before each timed call of `mortar bench --cold`, as in Li et al. 2018, figure
 * 9: caches are invalidated, then each rank reads its own send buffer and its own receive buffer
 * from the beginning to the end. So a block is in its owner's cache, if it fits there, and in
 * nobody else's.
 *
 * Lines are thrown out by clflush(opt), which reaches every cache of the machine but only the
 * buffers' lines: what the MPI library keeps for itself stays warm. Without these instructions, or
 * when asked, a sweep through memory twice as large as the last cache pushes out what is there, the
 * library's own memory too. All ranks of a node sweep through the same memory. */
#include "bench/common/bench.h"

#include <stdio.h>
#include <stdlib.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

enum { shortest_line = 32, unknown_cache = 64 << 20 };

static enum method { SWEEP, FLUSH, FLUSH_OPT } method;
static size_t line = 64; /* bytes between two flushes */
static char *sweep;
static size_t sweep_bytes;
static bool shared;
static volatile unsigned char sink;

#ifdef __x86_64__
static enum method best_method(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(d & 1u << 19)) return SWEEP;
    line = (b >> 8 & 0xff) * 8;
    if (line < shortest_line) return SWEEP;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 23 ? FLUSH_OPT : FLUSH;
}

/* clflushopt does not wait for the line before. */
__attribute__((target("clflushopt"))) static void flush_opt(char *memory, size_t bytes) {
    for (size_t k = 0; k < bytes; k += line) _mm_clflushopt(memory + k);
    /* What begins within a line may end in one more. */
    if (bytes) _mm_clflushopt(memory + bytes - 1);
}

static void flush(char *memory, size_t bytes) {
    if (method == FLUSH_OPT) {
        flush_opt(memory, bytes);
    } else {
        for (size_t k = 0; k < bytes; k += line) _mm_clflush(memory + k);
        if (bytes) _mm_clflush(memory + bytes - 1);
    }
    _mm_mfence();
}
#else
static enum method best_method(void) { return SWEEP; }
static void flush(char *memory, size_t bytes) { (void)memory, (void)bytes; }
#endif

/* One load per line. */
static void touch(const char *memory, size_t bytes) {
    unsigned char sum = 0;
    for (size_t k = 0; k < bytes; k += shortest_line)
        sum = (unsigned char)(sum + *(const volatile char *)(memory + k));
    sink = sum;
}

static bool open_sweep(const struct world *world) {
    const struct machine_facts *facts = machine_facts();
    size_t last = facts->l3 > facts->l2 ? facts->l3 : facts->l2;
    sweep_bytes = (size_t)meet_max(2.0 * (double)(last ? last : unknown_cache));
    shared = world->nodes == 1;
    sweep = shared ? shared_map(sweep_bytes) : malloc(sweep_bytes);
    if (meet_max(!sweep) != 0) return cold_close(), false;
    /* Else all pages would be the one zero page. */
    for (size_t k = 0; !shared && k < sweep_bytes; k += 4096) sweep[k] = 1;
    return true;
}

bool cold_open(const struct world *world, bool sweeping) {
    method = sweeping ? SWEEP : best_method();
    if (meet_max(method == SWEEP) != 0) method = SWEEP;
    return method != SWEEP || open_sweep(world);
}

void cold_close(void) {
    if (shared) shared_unmap(sweep, sweep_bytes);
    else free(sweep);
    sweep = NULL;
}

void cold_describe(char *text, size_t size) {
    if (method == SWEEP) snprintf(text, size, "a sweep through %zu MiB", sweep_bytes >> 20);
    else snprintf(text, size, "%s", method == FLUSH ? "clflush" : "clflushopt");
}

static void cold_empty(char *send, size_t send_bytes, char *recv, size_t recv_bytes) {
    if (method == SWEEP) {
        touch(sweep, sweep_bytes);
        /* A rank's sweep must not push out of a shared cache what another has already read
         * again. */
        meet();
    } else {
        flush(send, send_bytes);
        flush(recv, recv_bytes);
    }
}

void cold_make(char *send, size_t send_bytes, char *recv, size_t recv_bytes) {
    cold_empty(send, send_bytes, recv, recv_bytes);
    touch(send, send_bytes);
    touch(recv, recv_bytes);
}
