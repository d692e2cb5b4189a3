/* SPDX-License-Identifier: BSD-3-Clause */
/* papi - stands for PAPI's library on machines without counters, for smoke.py. The n-th count since
 * the first one, which is number 0, gives 10000 * event + 100 * n + 10 * rank. TEST_PAPI: none
 * (nothing works), no-l2, no-room (for the fifth), alone (only rank 0 has counters). */
#include <papi.h>
#include <stdlib.h>
#include <string.h>

static int added[8], count, stops;
static int running;

static int is(const char *what) {
    const char *text = getenv("TEST_PAPI");
    return text && strcmp(text, what) == 0;
}

static int rank(void) {
    const char *text = getenv("OMPI_COMM_WORLD_RANK");
    if (!text) text = getenv("PMI_RANK");
    return text ? atoi(text) : 0;
}

int PAPI_library_init(int version) {
    return is("none") || (is("alone") && rank() != 0) ? PAPI_ENOSUPP : version;
}

int PAPI_create_eventset(int *set) { return *set = 7, PAPI_OK; }

int PAPI_add_event(int set, int event) {
    static const int events[] = {PAPI_L1_DCM, PAPI_L2_DCM, PAPI_L3_TCM, PAPI_MEM_WCY, PAPI_STL_ICY};
    int number = 1;
    while (number <= 5 && events[number - 1] != event) number++;
    if (set != 7 || number > 5 || (number == 2 && is("no-l2"))) return PAPI_ENOEVNT;
    if (number == 5 && is("no-room")) return PAPI_ECNFLCT;
    added[count++] = number;
    return PAPI_OK;
}

int PAPI_start(int set) {
    if (set != 7 || running) abort();
    running = 1;
    return PAPI_OK;
}

int PAPI_stop(int set, long long *values) {
    if (set != 7 || !running) abort();
    running = 0;
    for (int i = 0; i < count; i++) values[i] = 10000 * added[i] + 100 * stops + 10 * rank();
    stops++;
    return PAPI_OK;
}

char *PAPI_strerror(int error) {
    static char unsupported[] = "the stand-in has no counters",
                unknown[] = "the stand-in has no such event",
                full[] = "the stand-in has room for four";
    return error == PAPI_ENOSUPP ? unsupported : error == PAPI_ECNFLCT ? full : unknown;
}
