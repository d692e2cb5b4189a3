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

static double rate;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void calibrate(void) {
    double start = clock_seconds(), now;
    uint64_t ticks = clock_ticks();
    while ((now = clock_seconds()) - start < 100e-6) continue;
    rate = (double)(clock_ticks() - ticks) / (now - start);
}

double clock_ticks_per_second(void) {
    pthread_once(&once, calibrate);
    return rate;
}
