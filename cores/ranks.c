/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks - coroutines with a clock each. */
#define _GNU_SOURCE
#include "cores.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { stack_bytes = 256 << 10 };
struct rank {
    ucontext_t
        context; /* where it begins; later it goes on at `point`, which takes no system call */
    jmp_buf point;
    char *stack;
    double time;
    enum { NEW, READY, PARKED, ENDED } state;
};

struct machine machine;
int rank_now = -1;
static struct rank ranks[most_cores];
static uint32_t count;
static jmp_buf idle;
static uint64_t meetings; /* so far */
static void (*work)(uint32_t rank);

/* ---- who is next ----
 * A tournament: node n has the earlier one of nodes 2n and 2n + 1; the leaves are the ranks, those
 * that wait for their turn with their time, others with INFINITY. The earliest is at the top. */
static double earliest[2 * most_cores];

static void enter_tournament(uint32_t rank, double time) {
    uint32_t node = most_cores + rank;
    earliest[node] = time;
    while (node /= 2)
        earliest[node] = earliest[2 * node] <= earliest[2 * node + 1] ? earliest[2 * node]
                                                                      : earliest[2 * node + 1];
}

static uint32_t winner(void) {
    uint32_t node = 1;
    while (node < most_cores) node = 2 * node + (earliest[2 * node] != earliest[node]);
    return node - most_cores;
}

/* ---- turns ---- */

double rank_time(void) { return ranks[rank_now].time; }

/* The earliest goes on; ranks_run does if none can. */
static _Noreturn void go_on(void) {
    if (isinf(earliest[1])) _longjmp(idle, 1);
    uint32_t next = winner();
    enter_tournament(next, INFINITY);
    rank_now = (int)next;
    if (ranks[next].state == NEW) {
        ranks[next].state = READY;
        setcontext(&ranks[next].context);
    }
    _longjmp(ranks[next].point, 1);
}

static void leave(void) {
    if (_setjmp(ranks[rank_now].point) == 0) go_on();
}

void rank_turn(void) {
    if (ranks[rank_now].time <= earliest[1]) return;
    enter_tournament((uint32_t)rank_now, ranks[rank_now].time);
    leave();
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
    enter_tournament(rank, ranks[rank].time);
}

static void begin(void) {
    work((uint32_t)rank_now);
    ranks[rank_now].state = ENDED;
    go_on();
}

void ranks_run(uint32_t p, void (*body)(uint32_t rank)) {
    count = p;
    work = body;
    for (uint32_t node = 0; node < 2 * most_cores; node++) earliest[node] = INFINITY;
    for (uint32_t r = 0; r < p; r++) {
        struct rank *rank = &ranks[r];
        if (!rank->stack)
            rank->stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (rank->stack == MAP_FAILED) abort();
        rank->time = 0;
        rank->state = NEW;
        getcontext(&rank->context);
        rank->context.uc_stack = (stack_t){.ss_sp = rank->stack, .ss_size = stack_bytes};
        makecontext(&rank->context, begin, 0);
        enter_tournament(r, 0);
    }
    if (_setjmp(idle) == 0) go_on();
    rank_now = -1;
    for (uint32_t r = 0; r < count; r++)
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
