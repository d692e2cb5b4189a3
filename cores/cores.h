/* SPDX-License-Identifier: BSD-3-Clause */
/* cores.h - the library's own calls on one simulated node with a core for each rank, in time.
 *
 * The sources are compiled as for the thread sanitizer: the compiler then calls a function for
 * every atomic operation and for every access to memory. Here these functions (hooks.c) are not the
 * sanitizer's. They let the time pass that the access would take (lines.c). Ranks are coroutines
 * (ranks.c); of those that can go on, the one with the earliest time does.
 *
 * What takes time is that cache lines move between cores. A line is held by one core that may write
 * it, or by several that may read it. To get it takes as long as the machine's file says for the
 * distance: within a group of cores (those that share an L3), within a socket, between sockets.
 * - One hand-over of a line to a writer begins when the one before has ended.
 * - Readers get copies one after the other: a copy keeps the line busy for a share of its time. The
 *   first reader of a group fetches the line, the others of the group get it from there.
 * - A store is seen by others when its core owns the line, and stores are seen in order (TSO). The
 *   core goes on meanwhile, but waits where it stores with sequential consistency or reads,
 *   modifies and writes.
 * - Copies of data (memcpy) and prefetches have a number of lines under way at once. Other loads
 *   wait.
 * Instructions take no time beyond a short one for each access. Caches have no limit, and neither
 * has the bandwidth between groups: it is a model of short messages, of some KiB per rank. Times
 * are nanoseconds. */
#ifndef MORTAR_CORES_H
#define MORTAR_CORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { most_cores = 256, distances = 3 };

/* ---- machine.c ---- */
struct machine {
    char name[64], about[256];
    uint32_t cores, group, socket; /* cores in all, of a group, of a socket */
    double hand_over[distances];   /* of a line from a core of the same group, socket; of another */
    double memory;                 /* of a line that nobody holds */
    double touch;                  /* of a line that the core holds */
    double locked;                 /* more for an atomic operation that reads and writes */
    double reading;   /* share of its time that a copy for a reader keeps a line busy */
    uint32_t overlap; /* lines that a core has under way when it copies */
};
/* Reads a description, lines `key value`. 0, or -errno and one line in `why`: what is wrong. */
int machine_read(struct machine *m, const char *path, char why[256]);
void machine_print(const struct machine *m, FILE *file);

/* ---- measure.c ---- */
/* Measures hand_over on the cores of this machine that the process may use; `pairs` of each
 * distance at most. False: this machine has one core only, or hwloc does not know its caches. */
bool measure(struct machine *m, uint32_t pairs);

/* ---- ranks.c ---- */
extern struct machine machine; /* that is simulated */
/* Runs body on ranks 0 .. p - 1, each on a core of its own, until all have returned. */
void ranks_run(uint32_t p, void (*body)(uint32_t rank));
/* The rank that runs now, -1: none, and its time. */
extern int rank_now;
double rank_time(void);
/* For lines.c. Others that have an earlier time go on first. */
void rank_turn(void);
void rank_advance(double time);
/* Sleeps until rank_wake; then its time is at least that. */
void rank_park(void);
void rank_wake(uint32_t rank, double time);
/* All ranks meet; each goes on at the latest of their times, which it returns. Takes no time. */
double ranks_meet(void);
/* This rank goes on up to so much later, each time in another order of the ranks. */
void rank_dawdle(double most);
/* Ranks enter a call within so many nanoseconds. */
extern double entry_nanoseconds;

/* ---- lines.c: memory that ranks share ---- */
/* `bytes` of zeros that nobody holds, on a page of their own. They stay until lines_reset. */
void *shared_take(size_t bytes);
void lines_reset(void);
/* What the rank that runs now does. Accesses to other memory take no time. */
enum access {
    LOAD,              /* and waits for it */
    STORE,             /* others see it some time later */
    STORE_IN_SEQUENCE, /* and waits until others see it */
    MODIFY,            /* reads and writes at once */
};
void line_access(const volatile void *at, enum access access);
/* Loads or stores a range without waiting. */
void lines_copy(const volatile void *at, size_t bytes, bool stores);
/* Begins to load the line, without waiting for it. */
void line_soon(const volatile void *at);
/* Waits until others see all that the rank has stored. */
void line_fence(void);
/* Waits until somebody stores into the line after the rank has looked at it. */
void line_await(const volatile void *at);
/* Of all ranks so far: lines that had to come from another core, by distance. */
extern uint64_t lines_moved[distances];

/* ---- calls.c: the library's calls ---- */
struct call_result {
    double
        nanoseconds; /* from when the last rank enters until the last is back; mean of some calls */
    double moved[distances]; /* lines that moved in a call, by distance */
    bool right;
};
/* Plans of this collective, as the planner weighs them on such a node: the chosen one first. */
size_t plans_of(const char *collective, uint32_t p, size_t bytes, char plans[][64], size_t most);
/* False: no such plan, or not for this collective; `why` says so. */
bool call_time(const char *collective, const char *plan, uint32_t p, size_t bytes,
               struct call_result *result, char why[192]);
enum { call_kinds = 8 };
extern const char *const call_names[call_kinds];

/* ---- designs.c: barriers, written for this comparison ---- */
extern const struct design {
    const char *name, *about;
    void (*run)(uint32_t rank, uint32_t turn);
    bool carries; /* an 8-byte sum for each rank, too */
} designs[];
extern const size_t design_count;
struct call_result design_time(const struct design *design, uint32_t p);

#endif
