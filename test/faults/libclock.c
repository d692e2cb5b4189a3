/* SPDX-License-Identifier: BSD-3-Clause */
/* libclock - clocks that do what real ones do now and then. Preloaded; $CLOCKS is one of
 *   jumps   the time of day jumps to and fro by up to a day with each look, on each rank alone
 *   apart   each process has a monotonic clock of its own, days apart, as in time namespaces
 *   leaps   after some looks all clocks are an hour later, again and again: the machine slept
 *   coarse  the monotonic clock stands still for 10 ms at a time */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char *kind(void) {
    static const char *known;
    if (!known) known = getenv("CLOCKS") ? getenv("CLOCKS") : "";
    return known;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static _Atomic unsigned looks;
    int error = (int)syscall(SYS_clock_gettime, clock, now);
    if (error || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
        return error;
    unsigned look = atomic_fetch_add(&looks, 1);
    int of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (strcmp(kind(), "jumps") == 0 && of_day)
        now->tv_sec += (long)(look * 2654435761u % 172800) - 86400;
    if (strcmp(kind(), "apart") == 0 && !of_day) now->tv_sec += getpid() % 1000 * 86400L;
    if (strcmp(kind(), "leaps") == 0) now->tv_sec += look / 5000 * 3600L;
    if (strcmp(kind(), "coarse") == 0 && !of_day) now->tv_nsec -= now->tv_nsec % 10000000;
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec time;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &time);
    *now = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *now) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    if (now) *now = time.tv_sec;
    return time.tv_sec;
}
