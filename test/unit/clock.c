/* SPDX-License-Identifier: BSD-3-Clause */
/* clock - the rate of the processor's counter, measured by a thread that loses its processor now
 * and then right after it has looked at the clock. */
#include "base/base.h"
#include "unit.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool hindered;

static double seconds_now(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void pause_for(long us) {
    const struct timespec pause = {.tv_nsec = us * 1000};
    syscall(SYS_nanosleep, &pause, NULL);
}

/* In the C library's place: the first look, and each third after it, ends late. */
int clock_gettime(clockid_t clock, struct timespec *now) {
    static int looks;
    int error = (int)syscall(SYS_clock_gettime, clock, now);
    if (hindered && looks++ % 3 == 0) pause_for(2000);
    return error;
}

int main(void) {
    hindered = true;
    double rate = clock_ticks_per_second();
    hindered = false;
    double start = seconds_now();
    uint64_t ticks = clock_ticks();
    pause_for(20000);
    double truth = (double)(clock_ticks() - ticks) / (seconds_now() - start);
    expect(rate > 0.5 * truth && rate < 2 * truth, "%g ticks per second instead of %g", rate,
           truth);
    return 0;
}
