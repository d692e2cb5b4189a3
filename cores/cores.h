/* SPDX-License-Identifier: BSD-3-Clause */
/* cores.h - the library's own calls on one simulated node with a core for each rank, in time.
 *
 * The sources are compiled as for the thread sanitizer: the compiler then calls a function for
 * every atomic operation and for every access to memory. Here these functions (hooks.c) are not the
 * sanitizer's. They let the time pass that the access would take (lines.c). Ranks are coroutines
 * (ranks.c); of those that can go on, the one with the earliest time does.
 *
 * What takes time is that cache lines move. A line is held by one core that may write it, or by
 * several that may read it. To get it takes as long as the machine's file says for the distance:
 * within a group of cores (those that share an L3), within a socket, between sockets.
 * - One hand-over of a line to a writer begins when the one before has ended.
 * - Readers get copies one after the other: a copy keeps the line busy for a share of its time. The
 *   first reader of a group fetches the line, the others of the group get it from there.
 * - A store is seen by others when its core owns the line, and stores are seen in order (TSO). The
 *   core goes on meanwhile, but waits where it stores with sequential consistency or reads,
 *   modifies and writes.
 * - Copies of data (memcpy) and prefetches have a number of lines under way at once. Other loads
 *   wait.
 * - What a cache has no room for leaves it (caches.c): from a core's own cache into the one that
 *   its group shares, from there into memory. Memory lies in the socket whose rank touched the page
 *   first.
 * - Lines that leave or enter a group, cross from socket to socket, or come from or go to memory
 *   follow each other at the pace of that way (ways.c).
 * - A core that reads or copies two lines in sequence fetches the next ones of the page ahead
 *   (ahead.c).
 * A machine's file that says nothing of caches, bandwidths or fetching ahead has caches without
 * end, ways without queues, and fetches nothing ahead. Instructions take no time beyond a short one
 * for each access. Times are nanoseconds. */
#ifndef MORTAR_CORES_H
#define MORTAR_CORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { most_cores = 256, most_groups = 64, most_sockets = 16, line_bytes = 64, page_lines = 64 };
/* Where a line comes from: a core of the same group, of the socket, of another one; the cache that
 * the group shares; memory. */
enum { distances = 3, FROM_SHARED = distances, FROM_MEMORY, sources };

/* ---- machine.c ---- */
struct cache_shape {
    uint64_t bytes; /* 0: without end */
    uint32_t ways;
};
struct machine {
    char name[64], about[256];
    uint32_t cores, group, socket; /* cores in all, of a group, of a socket */
    double hand_over[distances];   /* of a line from a core of the same group, socket; of another */
    struct cache_shape l2, l3;     /* of a core; of a group: l3.bytes is 0 if it shares none */
    bool inclusive;            /* L3 has all lines of its cores; otherwise what they throw out */
    double l3_time;            /* of a line from there */
    double memory[2];          /* of a line from memory of this socket, of another */
    double memory_bandwidth;   /* of a socket, bytes a nanosecond; 0: without end */
    double link_bandwidth;     /* from one socket to another */
    double group_bandwidth[2]; /* into a group, out of it */
    double touch;              /* of a line that the core holds */
    double locked;             /* more for an atomic operation that reads and writes */
    double reading;            /* share of its time that a copy for a reader keeps a line busy */
    uint32_t overlap;          /* lines that a core has under way when it copies */
    uint32_t ahead;            /* more that it fetches ahead of a sequence at once; 0: none */
};
/* Reads a description, lines `key value`. 0, or -errno and one line in `why`: what is wrong. */
int machine_read(struct machine *m, const char *path, char why[256]);
void machine_print(const struct machine *m, FILE *file);

/* ---- measure.c ---- */
/* Measures hand_over on the cores of this machine that the process may use, `pairs` of each
 * distance at most; and what hwloc and one socket tell of caches and memory. NULL, or what it
 * needs: two cores, as many of each group and of each socket. */
const char *measure(struct machine *m, uint32_t pairs);

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
/* What ranks do between calls: */
extern enum between {
    USE,     /* each reads what it has received, and writes what it sends */
    NOTHING, /* as `mortar bench`: the buffers stay as they are */
    COLD /* as li2018, figure 9: the caches are emptied, each reads what it sends, then the other */
} between;

/* ---- lines.c: memory that ranks share ---- */
struct line {
    uint64_t holders[most_cores / 64];
    uint64_t shared;   /* groups whose L3 has what it contains now */
    double busy;       /* until then it is on its way to a writer, or being copied for a reader */
    uint32_t stores;   /* hand-overs to writers so far */
    uint16_t watchers; /* the first rank that waits, + 1 */
    bool dirty;        /* memory has something older */
};
/* `bytes` of zeros that nobody holds, on a page of their own. They stay until lines_reset. */
void *shared_take(size_t bytes);
void lines_reset(void);
/* No cache holds any line any more. */
void lines_flush(void);
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
/* Of each rank so far: lines that came, by where from. */
extern uint64_t lines_moved[most_cores][sources];
/* Adds to the sum what comes for the rank that runs now between two calls, before and behind. */
void lines_count(uint64_t sum[sources], bool behind);

/* ---- lines.c, for the files below: lines by number ---- */
struct line *line_at(uint32_t number);
uint32_t line_home(uint32_t number); /* the socket whose memory it lies in */
/* When the core has the line, if it asks now: for reading; for writing to it. */
double line_comes(uint32_t number, uint32_t core, double now);
double line_owned(uint32_t number, uint32_t core, double now);
static inline uint32_t group_of(uint32_t core) { return core / machine.group; }
static inline uint32_t socket_of(uint32_t core) { return core / machine.socket; }
static inline bool holds(const struct line *line, uint32_t core) {
    return line->holders[core / 64] >> core % 64 & 1;
}
static inline double later(double a, double b) { return a > b ? a : b; }

/* ---- caches.c: what they have room for ---- */
void *reserve(size_t bytes); /* zeros */
void caches_reset(void);
/* The core uses a line, and its cache throws out another one if it is full. */
void cache_uses(uint32_t number, uint32_t core);
/* The group's L3 has the line's contents from now on, or gives them once more. */
void shared_uses(uint32_t number, uint32_t group);
/* One core is about to write to the line, so no other cache has it any more. */
void caches_drop(uint32_t number, uint32_t writer);

/* ---- ways.c: how long a line waits for its way to be free ---- */
void ways_reset(void);
double way_from_group(uint32_t group, uint32_t to); /* from a core's or the shared cache */
double way_is_free(uint32_t group);                 /* the way out of a group: when? */
double way_from_memory(uint32_t socket, uint32_t to);
void way_to_memory(uint32_t group, uint32_t socket);

/* ---- ahead.c: lines that a core fetches before it needs them ---- */
void ahead_reset(void);
/* The core reads or copies this line, with others to follow perhaps. */
void ahead_of(uint32_t number, uint32_t core, bool stores, double now);
/* It has asked for a line which comes then. When it is there: */
void ahead_note(uint32_t number, uint32_t core, double comes);
double ahead_comes(uint32_t number, uint32_t core, double now);

/* ---- calls.c: the library's calls ---- */
struct call_result {
    /* From when the last rank enters until the last is back; mean of some calls. */
    double nanoseconds;
    double round;          /* the same with what ranks do between two calls */
    double moved[sources]; /* lines that moved in a call, by where they came from */
    bool right;
};
/* Plans of this collective, as the planner weighs them on such a node: the chosen one first. */
size_t plans_of(const char *collective, uint32_t p, size_t bytes, char plans[][64], size_t most);
/* Without simulating: is the collective simulated, and is the plan (NULL: any) one for it? False:
 * `why` says why not. */
bool call_known(const char *collective, const char *plan, char why[192]);
/* False: no such plan, or not for this collective; `why` says so. */
bool call_time(const char *collective, const char *plan, uint32_t p, size_t bytes,
               struct call_result *result, char why[192]);
enum { call_kinds = 9 };
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
