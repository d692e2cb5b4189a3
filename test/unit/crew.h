/* SPDX-License-Identifier: BSD-3-Clause */
/* crew.h - the ranks of a team as threads of one process: what a node's processes do through shared
 * memory, where sanitizers see every access. */
#ifndef MORTAR_CREW_H
#define MORTAR_CREW_H

#include "coll/coll.h"
#include "unit.h"

#include <pthread.h>

enum { most_ranks = 16 };

/* How the ranks reach each other's memory. */
enum reach {
    REACH_NOTHING, /* no rank has a region */
    REACH_DIRECT,  /* at its own address: a race on a byte is a race that a sanitizer sees */
    /* As processes do it: regions in memfds, mapped by team_map, read-only and writable at
     * different addresses. */
    REACH_MAPPED,
};

struct crew;
struct rank {
    struct team team;
    struct crew *crew;
    uint64_t common, own; /* random: the same sequence on all ranks, a different one on each */
    /* Memory for buffers, crew->room bytes; the first half is the region of a rank that has one. */
    char *block;
    bool has_region;
    long polls; /* calls of team.progress */
    pthread_t thread;
};

/* What a test asks for; the rest is drawn from the seed. */
struct crew {
    int p;
    enum reach reach;
    size_t slot, room;
    uint32_t epoch; /* barriers that lie behind the team; near UINT32_MAX the counters wrap soon */
    uint64_t seed;
    bool spinning;         /* ranks may spin: only sensible with a processor each */
    bool all_have_regions; /* else some ranks have none */
    bool one_domain;       /* of memory; else up to 4 */
    bool wired;            /* the ranks send messages, as over several nodes: queues.c */
    void (*body)(struct rank *rank);
    const void *argument; /* for the body */
    struct rank ranks[most_ranks];
    struct office *office;
    void *memory;
    double start;
    atomic_bool late;
};

/* Builds the teams, runs body on p threads, joins them, checks that nobody wrote behind the shared
 * memory, frees everything. */
void crew_run(struct crew *crew);

/* A crew for each of some numbers of ranks and each way to reach peers; prepare sets slot, room and
 * body, the rest is drawn. calls: of each crew, at most. Returns how many crews there were. */
int crews_run(const int *sizes, size_t count, int calls, uint64_t *random,
              void (*prepare)(struct crew *crew, uint64_t *random));

/* Arrives at the barrier, gate by gate. True: as the last of all; call sync_release. False: call
 * sync_wait. */
static inline bool crew_arrives(struct team *team, uint32_t *trouble) {
    while (!sync_is_top(team))
        if (!sync_meet(team, trouble)) return false;
    return true;
}

/* Runs a call; one that takes a single barrier maybe step by step, as calls that repeat do: each
 * rank draws. Returns what run returns. Collective. */
enum outcome crew_calls(struct rank *rank, struct team *team, const struct algorithm_code *code,
                        const struct call *call, const struct arguments *arguments);

/* Has the crew still time? On a machine that is busy with other things a barrier costs
 * milliseconds. Collective. */
bool crew_goes_on(struct rank *rank);

/* ---- queues.c: messages between threads. Who joins gets a wire, and loses it when it leaves; no
 * message may be left then ---- */
struct office *office_open(void);
void office_join(struct office *office, struct team *team, uint64_t seed);
void office_leave(struct team *team);
void office_close(struct office *office);

/* ---- scarce.c: a call in which one rank, drawn from rank->common, does not get one of the first
 * allocations, or had no memory to pack its data before. Whoever depends on that rank may fail, and
 * all may leave the call to the host MPI; a rank that says DONE has every byte right. Collective
 * over the crew ---- */
/* Returns the trouble of the call. */
uint32_t scarce_begin(struct rank *rank, bool may_lack_data);
/* Ends it; is there something to compare? */
bool scarce_end(struct rank *rank, enum outcome outcome);
/* For what the test itself allocates meanwhile. */
long scarce_pause(void);
void scarce_resume(long before);

/* Processors of this machine that the test may use. */
int processors_here(void);

/* Lets others run, for a random while that is mostly nothing. */
void dawdle(uint64_t *random);

/* The line of /proc/self/maps that holds the address; false: not mapped. Mappings whose name
 * contains a word. */
bool mapping_of(uintptr_t address, char *line, size_t size);
int mappings_named(const char *word);

#endif
