/* SPDX-License-Identifier: BSD-3-Clause */
/* measure - what a line takes from one core of this machine to another: two threads, each bound to
 * a core, change one word in turns by compare and swap; half of a round is one hand-over. What a
 * line takes from L3 and from memory: one thread follows a chain of pointers through lines in
 * random order. Bandwidth: all cores read at once. What is measured here, on one socket, is said of
 * all. */
#define _GNU_SOURCE
#include "cores.h"

#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { rounds = 2000, first_timed = 200, repetitions = 20, steps = 1 << 16, readings = 5 };
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

/* Returns when the timed rounds began, by when the other thread runs. */
static double play(uint32_t mine) {
    double start = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        if (i == first_timed) start = clock_seconds();
        uint32_t want = 2 * i + mine;
        while (!atomic_compare_exchange_weak(&ball.word, &want, 2 * i + mine + 1))
            want = 2 * i + mine;
    }
    return start;
}

static void *other(void *argument) {
    (void)argument;
    bind_to(ball.core);
    play(1);
    return NULL;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds of a hand-over: the median, as others may run on these cores, and as virtual cores
 * may meet on one real core for a while. */
static double hand_over(int a, int b) {
    double took[repetitions];
    for (int i = 0; i < repetitions; i++) {
        pthread_t thread;
        atomic_store(&ball.word, 0);
        ball.core = b;
        bind_to(a);
        if (pthread_create(&thread, NULL, other, NULL) != 0) return 1e9;
        double start = play(0);
        took[i] = 1e9 * (clock_seconds() - start) / (2 * (rounds - first_timed));
        pthread_join(thread, NULL);
    }
    qsort(took, repetitions, sizeof *took, compare);
    return took[repetitions / 2];
}

/* ---- caches and memory ---- */

static uint32_t ways_of(int level, uint32_t usual) {
    char path[96];
    uint32_t ways;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/ways_of_associativity",
             level);
    FILE *file = fopen(path, "r");
    if (!file) return usual;
    if (fscanf(file, "%u", &ways) != 1 || ways == 0) ways = usual;
    fclose(file);
    return ways;
}

static uint64_t draw(uint64_t *random, uint64_t below) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % below;
}

/* Large pages, if there are any: what pages cost is not asked here. */
static void *large(size_t bytes) {
    void *memory = reserve(bytes);
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

/* Nanoseconds of a load that misses all caches smaller than that. */
static double chase(size_t bytes) {
    struct place {
        _Alignas(line_bytes) uint32_t next;
    } *places = large(bytes);
    uint32_t count = (uint32_t)(bytes / line_bytes), at = 0;
    uint64_t random = 1;
    for (uint32_t i = 0; i < count; i++) places[i].next = i;
    for (uint32_t i = count - 1; i > 0; i--) { /* one cycle through all of them (Sattolo) */
        uint32_t j = (uint32_t)draw(&random, i), other = places[j].next;
        places[j].next = places[i].next;
        places[i].next = other;
    }
    double best = 1e9;
    for (int r = 0; r < repetitions; r++) {
        double start = clock_seconds();
        for (int i = 0; i < steps; i++) at = *(volatile uint32_t *)&places[at].next;
        double took = 1e9 * (clock_seconds() - start) / steps;
        if (took < best) best = took;
    }
    munmap(places, bytes);
    return best;
}

static struct reader {
    pthread_t thread;
    const uint64_t *from;
    size_t bytes;
    int core;
    uint64_t sum; /* so that it is read */
} readers[most_cores];

static void *read_all(void *argument) {
    struct reader *r = argument;
    bind_to(r->core);
    for (size_t i = 0; i < r->bytes / sizeof *r->from; i++) r->sum += r->from[i];
    return NULL;
}

/* Bytes a nanosecond that all of these cores read together. */
static double read_together(size_t bytes, const int *list, uint32_t cores) {
    char *memory = large(bytes);
    double best = 0;
    for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
    for (int reading = 0; reading < readings; reading++) {
        double start = clock_seconds();
        uint32_t begun = 0;
        for (; begun < cores; begun++) {
            size_t each = bytes / cores / line_bytes * line_bytes;
            readers[begun] = (struct reader){.from = (const uint64_t *)(memory + begun * each),
                                             .bytes = each,
                                             .core = list[begun]};
            if (pthread_create(&readers[begun].thread, NULL, read_all, &readers[begun]) != 0) break;
        }
        for (uint32_t i = 0; i < begun; i++) pthread_join(readers[i].thread, NULL);
        double rate = (double)bytes / 1e9 / (clock_seconds() - start);
        if (begun == cores && rate > best) best = rate;
    }
    munmap(memory, bytes);
    return best;
}

static void measure_memory(struct machine *m, const int *list, uint32_t cores) {
    const struct machine_facts *facts = machine_facts();
    size_t most = facts->l3 > facts->l2 ? facts->l3 : facts->l2, large_enough = 4 * most;
    if (large_enough < (size_t)64 << 20) large_enough = (size_t)64 << 20;
    if (large_enough > (size_t)1 << 30) large_enough = (size_t)1 << 30;
    m->memory[0] = m->memory[1] = chase(large_enough);
    m->memory_bandwidth = read_together(large_enough, list, cores) * m->socket / cores;
    m->ahead = 20;
    if (facts->l2 == 0) return;
    m->l2 = (struct cache_shape){.bytes = facts->l2, .ways = ways_of(2, 8)};
    if (facts->l3 <= facts->l2) return;
    m->l3 = (struct cache_shape){.bytes = facts->l3, .ways = ways_of(3, 16)};
    m->l3_time = chase(facts->l3 / 2 < 4 * facts->l2 ? facts->l3 / 2 : 4 * facts->l2);
}

static uint32_t domain_of(const uint32_t *domains, int core) {
    return domains && core < machine_facts()->processors ? domains[core] : 0;
}

/* How many of these cores each domain has that has any; 0: not all as many. */
static uint32_t share_of(const uint32_t *domains, const int *list, uint32_t cores) {
    uint32_t share = 0;
    for (uint32_t i = 0; i < cores; i++) {
        uint32_t with = 0;
        for (uint32_t k = 0; k < cores; k++)
            with += domain_of(domains, list[k]) == domain_of(domains, list[i]);
        if (i > 0 && with != share) return 0;
        share = with;
    }
    return share;
}

const char *measure(struct machine *m, uint32_t pairs) {
    struct processors mine = machine_processors();
    const struct machine_facts *facts = machine_facts();
    const uint32_t *sockets = machine_domains(DOMAIN_SOCKET),
                   *groups = machine_domains(facts->l3s > 1 ? DOMAIN_L3 : DOMAIN_SOCKET);
    static double times[distances][1024];
    uint32_t counts[distances] = {0}, cores = 0;
    int list[most_cores];
    for (int i = 0; i < (int)(8 * sizeof mine) && cores < most_cores; i++)
        if (mine.bits[i / 64] >> i % 64 & 1) list[cores++] = i;
    if (cores < 2) return "two cores";
    uint32_t group = share_of(groups, list, cores), socket = share_of(sockets, list, cores);
    if (group == 0 || socket == 0 || socket % group != 0)
        return "as many cores of each L3 cache and of each socket; taskset -c binds it to some";
    uint64_t random = 1;
    for (uint32_t left = cores * cores; left > 0; left--) {
        int a = list[draw(&random, cores)], b = list[draw(&random, cores)];
        int d = domain_of(groups, a) == domain_of(groups, b)     ? 0
                : domain_of(sockets, a) == domain_of(sockets, b) ? 1
                                                                 : 2;
        if (a == b || counts[d] >= pairs) continue;
        times[d][counts[d]++] = hand_over(a, b);
    }
    *m = (struct machine){.cores = cores, .socket = socket, .group = group};
    snprintf(m->about, sizeof m->about, "%s%smeasured by mortar cores --measure", facts->cpu,
             *facts->cpu ? ", " : "");
    for (int d = 0; d < distances; d++) {
        qsort(times[d], counts[d], sizeof times[d][0], compare);
        m->hand_over[d] = counts[d] ? times[d][counts[d] / 2] : m->hand_over[d > 0 ? d - 1 : 0];
    }
    for (int d = distances - 2; d >= 0; d--) /* no two cores are so near */
        if (m->hand_over[d] == 0) m->hand_over[d] = m->hand_over[d + 1];
    measure_memory(m, list, cores);
    return NULL;
}
