/* SPDX-License-Identifier: BSD-3-Clause */
/* measure - what a line takes from one core of this machine to another: two threads, each bound to
 * a core, change one word in turns by compare and swap; half of a round is one hand-over. */
#define _GNU_SOURCE
#include "cores.h"

#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { rounds = 20000, repetitions = 5 };
static struct {
    _Alignas(128) _Atomic uint32_t word;
    _Alignas(128) int core;
} ball;

static bool bind_to(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)core, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

static void play(uint32_t mine) {
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t want = 2 * i + mine;
        while (!atomic_compare_exchange_weak(&ball.word, &want, 2 * i + mine + 1))
            want = 2 * i + mine;
    }
}

static void *other(void *argument) {
    (void)argument;
    bind_to(ball.core);
    play(1);
    return NULL;
}

/* Nanoseconds of a hand-over: the best of some repetitions, as others may run on these cores. */
static double hand_over(int a, int b) {
    double best = 1e9;
    for (int i = 0; i < repetitions; i++) {
        pthread_t thread;
        atomic_store(&ball.word, 0);
        ball.core = b;
        bind_to(a);
        if (pthread_create(&thread, NULL, other, NULL) != 0) return best;
        double start = clock_seconds();
        play(0);
        double took = 1e9 * (clock_seconds() - start) / (2 * rounds);
        pthread_join(thread, NULL);
        if (took < best) best = took;
    }
    return best;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool measure(struct machine *m, uint32_t pairs) {
    struct processors mine = machine_processors();
    const struct machine_facts *facts = machine_facts();
    const uint32_t *groups = machine_domains(DOMAIN_L3), *sockets = machine_domains(DOMAIN_SOCKET);
    static double times[distances][1024];
    uint32_t counts[distances] = {0}, cores = 0;
    int list[most_cores];
    for (int i = 0; i < (int)(8 * sizeof mine) && cores < most_cores; i++)
        if (mine.bits[i / 64] >> i % 64 & 1) list[cores++] = i;
    if (cores < 2) return false;
    uint64_t random = 1;
    for (uint32_t left = cores * cores; left > 0; left--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int a = list[(random >> 33) % cores], b = list[(random >> 13) % cores];
        int d = !groups || groups[a] == groups[b]      ? 0
                : !sockets || sockets[a] == sockets[b] ? 1
                                                       : 2;
        if (a == b || counts[d] >= pairs) continue;
        times[d][counts[d]++] = hand_over(a, b);
    }
    *m = (struct machine){.cores = cores, .socket = cores, .group = cores};
    snprintf(m->about, sizeof m->about, "%s, measured by mortar cores --measure", facts->cpu);
    if (facts->sockets > 1) m->socket = cores / (uint32_t)facts->sockets;
    if (facts->l3s > 1) m->group = cores / (uint32_t)facts->l3s;
    for (int d = 0; d < distances; d++) {
        qsort(times[d], counts[d], sizeof times[d][0], compare);
        m->hand_over[d] = counts[d] ? times[d][counts[d] / 2] : m->hand_over[d > 0 ? d - 1 : 0];
    }
    return true;
}
