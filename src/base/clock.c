/* SPDX-License-Identifier: BSD-3-Clause */
/* clock - time in seconds, and in ticks of the processor's counter. */
#include "base/base.h"

#include <pthread.h>
#include <time.h>

double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

SHORT_WAY uint64_t clock_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return (uint64_t)(clock_seconds() * 1e9);
#endif
}

struct instant {
    double seconds;
    uint64_t ticks;
};

/* Both at one time: of several looks the shortest one, because a thread may lose its processor
 * between the two, for milliseconds where ranks share processors. */
static struct instant look(void) {
    enum { looks = 8 };
    struct instant best = {0};
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < looks; i++) {
        uint64_t before = clock_ticks();
        double seconds = clock_seconds();
        uint64_t took = clock_ticks() - before;
        if (took >= shortest) continue;
        shortest = took;
        best = (struct instant){seconds, before + took / 2};
    }
    return best;
}

static double rate;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void calibrate(void) {
    struct instant start = look(), end;
    do end = look();
    while (end.seconds - start.seconds < 100e-6);
    rate = (double)(end.ticks - start.ticks) / (end.seconds - start.seconds);
}

double clock_ticks_per_second(void) {
    pthread_once(&once, calibrate);
    return rate;
}
