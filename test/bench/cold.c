/* SPDX-License-Identifier: BSD-3-Clause */
/* cold - does what --cold does before a call empty the caches? Memory that was just read is read
 * again in an order that no prefetcher guesses, each address from the load before: fast from a
 * cache, slow after a flush or a sweep. The fastest of many tries of either kind counts, so that a
 * busy machine does no harm. No MPI is started. */
#include "bench/calls/cold.c"

#include <string.h>

enum { lines = 1024, words = 64 / sizeof(size_t), tries = 100, times_slower = 3 };

void *shared_map(size_t bytes) {
    void *memory = malloc(bytes);
    return memory ? memset(memory, 1, bytes) : NULL;
}
void shared_unmap(void *memory, size_t bytes) {
    (void)bytes;
    free(memory);
}
double meet_max(double value) { return value; }
void meet(void) {}

/* The first word of a line: where the next one is. */
static size_t chain[lines * words] __attribute__((aligned(64)));

static double walk(void) {
    double start = clock_seconds();
    size_t at = 0;
    for (int i = 0; i < lines; i++) at = ((volatile size_t *)chain)[at];
    return clock_seconds() - start + 0 * (double)at;
}

static double fastest(double a, double b) { return a < b ? a : b; }

/* cold_make without its end, which makes the memory warm again. */
static bool slower(bool sweeping) {
    struct world world = {.p = 1, .nodes = 1};
    char how[64];
    double warm = 1, cold = 1;
    if (!cold_open(&world, sweeping)) return false;
    cold_describe(how, sizeof how);
    for (int i = 0; i < tries; i++) {
        walk();
        warm = fastest(warm, walk());
        cold_empty((char *)chain, sizeof chain / 2, (char *)chain + sizeof chain / 2,
                   sizeof chain / 2);
        cold = fastest(cold, walk());
    }
    cold_close();
    printf("%s: %.1f ns per line, warm %.1f\n", how, 1e9 * cold / lines, 1e9 * warm / lines);
    return cold > times_slower * warm;
}

int main(void) {
    uint64_t seed = 1;
    size_t order[lines];
    for (size_t i = 0; i < lines; i++) order[i] = i;
    for (size_t i = lines - 1; i > 0; i--) { /* a random order of all but the first line */
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t other = 1 + (seed >> 33) % i, line_there = order[other];
        order[other] = order[i], order[i] = line_there;
    }
    for (size_t i = 0; i < lines; i++) chain[order[i] * words] = order[(i + 1) % lines] * words;
    return slower(false) && slower(true) ? 0 : 1;
}
