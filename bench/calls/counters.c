/* SPDX-License-Identifier: BSD-3-Clause */
/* counters - cache misses and stalls of this rank, counted by the processor, through PAPI. Its
 * library is opened when asked for, never linked: a bench without --counters needs none. Its
 * constants come from papi.h, if that was there when mortar was built. */
#include "bench/common/bench.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const names[count_of_events] = {"L1", "L2", "L3", "MEM_WCY", "STL_ICY"};
static char why[count_of_events][256]; /* an event is not counted */
static unsigned counted;               /* bit i: all ranks count event i */

bool counters_has(int event) { return counted >> event & 1; }
const char *counters_name(int event) { return names[event]; }

#ifdef HAVE_PAPI
#include <dlfcn.h>
#include <papi.h>

/* Data misses; PAPI has no data misses of the third level on most machines, but all its misses. The
 * stalls are those of ramesh2024: cycles that wait for writes, and cycles without an instruction. A
 * processor that has no room for all five counts the first ones. */
static const struct {
    int code;
    const char *name;
} events[count_of_events] = {{PAPI_L1_DCM, "PAPI_L1_DCM"},
                             {PAPI_L2_DCM, "PAPI_L2_DCM"},
                             {PAPI_L3_TCM, "PAPI_L3_TCM"},
                             {PAPI_MEM_WCY, "PAPI_MEM_WCY"},
                             {PAPI_STL_ICY, "PAPI_STL_ICY"}};

static struct {
    __typeof__(&PAPI_library_init) init;
    __typeof__(&PAPI_create_eventset) create;
    __typeof__(&PAPI_add_event) add;
    __typeof__(&PAPI_start) start;
    __typeof__(&PAPI_stop) stop;
    __typeof__(&PAPI_strerror) strerror;
} papi;
static int set = PAPI_NULL;
static int place[count_of_events]; /* of an event in the set */

static void all_lack(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void all_lack(const char *format, ...) {
    for (int i = 0; i < count_of_events; i++) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(why[i], sizeof why[i], format, arguments);
        va_end(arguments);
    }
}

static bool find(void *handle) {
    *(void **)&papi.init = dlsym(handle, "PAPI_library_init");
    *(void **)&papi.create = dlsym(handle, "PAPI_create_eventset");
    *(void **)&papi.add = dlsym(handle, "PAPI_add_event");
    *(void **)&papi.start = dlsym(handle, "PAPI_start");
    *(void **)&papi.stop = dlsym(handle, "PAPI_stop");
    *(void **)&papi.strerror = dlsym(handle, "PAPI_strerror");
    return papi.init && papi.create && papi.add && papi.start && papi.stop && papi.strerror;
}

/* The events that this rank can count, as bits; why[] says what the others lack. */
static unsigned open_mine(void) {
    char name[32];
    unsigned mine = 0;
    int added = 0, error;
    snprintf(name, sizeof name, "libpapi.so.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION),
             PAPI_VERSION_MINOR(PAPI_VERSION));
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return all_lack("%s", dlerror()), 0;
    if (!find(handle)) return all_lack("%s lacks a function", name), 0;
    if ((error = papi.init(PAPI_VER_CURRENT)) < 0)
        return all_lack("PAPI_library_init: %s", papi.strerror(error)), 0;
    if (error != PAPI_VER_CURRENT)
        return all_lack("%s is of another version than papi.h was", name), 0;
    if ((error = papi.create(&set)) != PAPI_OK)
        return all_lack("PAPI_create_eventset: %s", papi.strerror(error)), 0;
    for (int i = 0; i < count_of_events; i++) {
        if ((error = papi.add(set, events[i].code)) == PAPI_OK) mine |= 1u << i, place[i] = added++;
        else snprintf(why[i], sizeof why[i], "%s: %s", events[i].name, papi.strerror(error));
    }
    long long values[count_of_events];
    if (!mine) {
        all_lack("PAPI finds no hardware counters on this machine: %s", papi.strerror(error));
        return 0;
    }
    if ((error = papi.start(set)) != PAPI_OK || (error = papi.stop(set, values)) != PAPI_OK)
        return all_lack("PAPI_start: %s", papi.strerror(error)), 0;
    return mine;
}

void counters_start(void) { papi.start(set); }

void counters_stop(double counts[count_of_events]) {
    long long values[count_of_events] = {0};
    papi.stop(set, values);
    for (int i = 0; i < count_of_events; i++)
        counts[i] = counters_has(i) ? (double)values[place[i]] : 0;
}
#else
static unsigned open_mine(void) {
    for (int i = 0; i < count_of_events; i++)
        snprintf(why[i], sizeof why[i], "mortar was built without papi.h");
    return 0;
}
void counters_start(void) {}
void counters_stop(double counts[count_of_events]) { (void)counts; }
#endif

/* Everybody's reasons matter, but one is told: that of the first rank that lacks the event. */
bool counters_open(const struct world *world) {
    unsigned mine = open_mine();
    library.allreduce(&mine, &counted, 1, MPI_UNSIGNED, MPI_BAND, MPI_COMM_WORLD);
    for (int i = 0; i < count_of_events; i++) {
        int lacking = mine >> i & 1 ? world->p : world->me, first;
        library.allreduce(&lacking, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (first < world->p) library.bcast(why[i], sizeof why[i], MPI_CHAR, first, MPI_COMM_WORLD);
    }
    return counted != 0;
}

const char *counters_lack(int event) { return why[event]; }
