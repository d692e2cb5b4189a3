/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks - coroutines with a clock each. */
#define _GNU_SOURCE
#include "cores.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { stack_bytes = 256 << 10 };
struct rank {
    ucontext_t context;
    char *stack;
    double time;
    enum { READY, PARKED, ENDED } state;
};

struct machine machine;
int rank_now = -1;
static struct rank ranks[most_cores];
static uint32_t count;
static ucontext_t scheduler;
static uint64_t meetings; /* so far */
static double horizon;    /* the earliest time of the others that are ready */
static void (*work)(uint32_t rank);

double rank_time(void) { return ranks[rank_now].time; }

static void leave(void) { swapcontext(&ranks[rank_now].context, &scheduler); }

void rank_turn(void) {
    if (ranks[rank_now].time > horizon) leave();
}

void rank_advance(double time) {
    if (time > ranks[rank_now].time) ranks[rank_now].time = time;
}

void rank_park(void) {
    ranks[rank_now].state = PARKED;
    leave();
}

void rank_wake(uint32_t rank, double time) {
    ranks[rank].state = READY;
    if (time > ranks[rank].time) ranks[rank].time = time;
    if (ranks[rank].time < horizon) horizon = ranks[rank].time;
}

static void begin(void) {
    work((uint32_t)rank_now);
    ranks[rank_now].state = ENDED;
}

/* The ready rank with the earliest time; -1: none is ready. Sets horizon. */
static int earliest(void) {
    int found = -1;
    double next = 1e300;
    for (uint32_t r = 0; r < count; r++) {
        if (ranks[r].state != READY) continue;
        if (found < 0 || ranks[r].time < ranks[found].time) {
            if (found >= 0 && ranks[found].time < next) next = ranks[found].time;
            found = (int)r;
        } else if (ranks[r].time < next) {
            next = ranks[r].time;
        }
    }
    horizon = next;
    return found;
}

void ranks_run(uint32_t p, void (*body)(uint32_t rank)) {
    count = p;
    work = body;
    for (uint32_t r = 0; r < p; r++) {
        struct rank *rank = &ranks[r];
        if (!rank->stack)
            rank->stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (rank->stack == MAP_FAILED) abort();
        rank->time = 0;
        rank->state = READY;
        getcontext(&rank->context);
        rank->context.uc_stack = (stack_t){.ss_sp = rank->stack, .ss_size = stack_bytes};
        rank->context.uc_link = &scheduler;
        makecontext(&rank->context, begin, 0);
    }
    for (;;) {
        rank_now = earliest();
        if (rank_now < 0) break;
        swapcontext(&scheduler, &ranks[rank_now].context);
    }
    for (uint32_t r = 0; r < p; r++)
        if (ranks[r].state != ENDED) {
            fprintf(stderr, "mortar cores: rank %u waits for ever\n", r);
            exit(3);
        }
}

double ranks_meet(void) {
    static uint32_t arrived, here[most_cores];
    static double latest;
    if (arrived == 0 || rank_time() > latest) latest = rank_time();
    here[arrived++] = (uint32_t)rank_now;
    if (arrived < count) {
        rank_park();
        return rank_time();
    }
    arrived = 0;
    meetings++;
    for (uint32_t i = 0; i + 1 < count; i++) rank_wake(here[i], latest);
    rank_advance(latest);
    return latest;
}

/* As even and as little ordered as the multiples of the golden ratio. */
void rank_dawdle(double most) {
    double spot = (1.0 + rank_now + (double)meetings * count) * 0.6180339887498949;
    rank_advance(rank_time() + most * (spot - (double)(int64_t)spot));
}
