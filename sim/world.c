/* SPDX-License-Identifier: BSD-3-Clause */
/* world - what all simulated ranks share; see world.h. */
#define _GNU_SOURCE
#include "world.h"

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *grown(void *memory, size_t bytes) {
    memory = realloc(memory, bytes);
    if (memory) return memory;
    fputs("mortar-sim: out of memory\n", stderr);
    exit(1);
}

double world_clock(void) { return simgrid_get_clock(); }

void world_spend(double seconds) {
    if (seconds > 0) sg_actor_sleep_for(seconds);
}

/* ---- sleeping ---- */

struct queue {
    sg_sem_t *sleepers;
    size_t count, room;
};
static struct queue *queues;
static uint32_t queue_count = 1, queue_room; /* 0 is none */

/* A rank sleeps on a semaphore of its own, so that being woken before it sleeps is not lost. */
static sg_sem_t *beds;
static size_t bed_room;

static sg_sem_t my_bed(void) {
    size_t me = (size_t)sg_actor_self_get_pid();
    if (me >= bed_room) {
        size_t room = 2 * me + 64;
        beds = grown(beds, room * sizeof *beds);
        memset(beds + bed_room, 0, (room - bed_room) * sizeof *beds);
        bed_room = room;
    }
    if (!beds[me]) beds[me] = sg_sem_init(0);
    return beds[me];
}

void world_park(_Atomic uint32_t *word) {
    uint32_t number = atomic_load(word);
    if (number == 0) {
        if (queue_count >= queue_room)
            queues = grown(queues, (queue_room = 2 * queue_room + 64) * sizeof *queues);
        number = queue_count++;
        queues[number] = (struct queue){0};
        atomic_store(word, number);
    }
    struct queue *queue = &queues[number];
    if (queue->count == queue->room)
        queue->sleepers =
            grown(queue->sleepers, (queue->room = 2 * queue->room + 4) * sizeof *queue->sleepers);
    sg_sem_t bed = my_bed();
    queue->sleepers[queue->count++] = bed;
    sg_sem_acquire(bed);
}

void world_wake(_Atomic uint32_t *word) {
    uint32_t number = atomic_load(word);
    /* Others run while one is woken: they may sleep here again, or make new queues. */
    size_t count = number ? queues[number].count : 0;
    if (count == 0) return;
    sg_sem_t few[32], *woken = count > 32 ? grown(NULL, count * sizeof *woken) : few;
    memcpy(woken, queues[number].sleepers, count * sizeof *woken);
    queues[number].count = 0;
    for (size_t i = 0; i < count; i++) sg_sem_release(woken[i]);
    if (woken != few) free(woken);
}

double world_meet(double value, double *mean) {
    static _Atomic uint32_t sleepers;
    static struct {
        double largest, sum;
    } results[2];
    static size_t arrived, meetings, ranks;
    if (ranks == 0) ranks = (size_t)strtol(getenv("SMPI_GLOBAL_SIZE"), NULL, 10);
    size_t meeting = meetings, turn = meeting & 1;
    if (arrived == 0) results[turn].largest = value, results[turn].sum = 0;
    if (value > results[turn].largest) results[turn].largest = value;
    results[turn].sum += value;
    if (++arrived == ranks) {
        arrived = 0;
        meetings++;
        world_wake(&sleepers);
    }
    while (meetings == meeting) world_park(&sleepers);
    if (mean) *mean = results[turn].sum / (double)ranks;
    return results[turn].largest;
}

struct gathering {
    uint64_t key;
    int arrived, turn; /* turn: how often it was complete */
    _Atomic uint32_t sleepers;
    char *data[2];
    size_t room[2];
    bool looked[2];
};

static struct gathering *gathering_of(uint64_t key) {
    static struct gathering **gatherings;
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (gatherings[i]->key == key) return gatherings[i];
    gatherings = grown(gatherings, (count + 1) * sizeof *gatherings);
    gatherings[count] = grown(NULL, sizeof **gatherings);
    *gatherings[count] = (struct gathering){.key = key};
    return gatherings[count++];
}

char *world_gather(uint64_t key, int count, int place, const void *data, size_t bytes,
                   bool *first) {
    struct gathering *g = gathering_of(key);
    int turn = g->turn, half = turn & 1;
    if ((size_t)count * bytes > g->room[half])
        g->data[half] = grown(g->data[half], g->room[half] = (size_t)count * bytes);
    memcpy(g->data[half] + (size_t)place * bytes, data, bytes);
    if (++g->arrived == count) {
        g->arrived = 0;
        g->turn++;
        g->looked[half] = false;
        world_wake(&g->sleepers);
    }
    while (g->turn == turn) world_park(&g->sleepers);
    *first = !g->looked[half];
    g->looked[half] = true;
    return g->data[half];
}

/* ---- prices ---- */

const struct world_prices *world_prices(void) {
    static struct world_prices prices;
    static bool read;
    if (read) return &prices;
    read = true;
    const struct {
        const char *name;
        double *price;
    } rows[] = {{"piece", &prices.piece},
                {"byte", &prices.byte},
                {"combine", &prices.combine},
                {"barrier", &prices.barrier},
                {"barrier_each", &prices.barrier_each},
                {"flag", &prices.flag},
                {"overhead", &prices.overhead},
                {"latency", &prices.latency},
                {"bandwidth", &prices.bandwidth},
                {"nodes", &prices.nodes},
                {"facts", &prices.facts},
                {"gap", &prices.gap},
                {"rank_byte", &prices.rank_byte}};
    const char *text = getenv("MORTAR_SIM_PRICES");
    char name[32];
    double price;
    int length;
    for (; text && sscanf(text, " %31[a-z_]=%lf%n", name, &price, &length) == 2; text += length)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (strcmp(name, rows[i].name) == 0) *rows[i].price = price;
    return &prices;
}

/* ---- memory and processors ---- */

int world_descriptor(void) {
    static int descriptor = -1;
    if (descriptor < 0) {
        descriptor = memfd_create("mortar-sim", MFD_CLOEXEC);
        if (descriptor < 0 || ftruncate(descriptor, 4096) < 0) {
            perror("mortar-sim: memfd_create");
            exit(1);
        }
    }
    return descriptor;
}

void *world_common(int number, size_t bytes) {
    static struct {
        void *memory;
        size_t bytes;
    } common[8];
    if (bytes > common[number].bytes) { /* what was there stays: somebody may use it */
        common[number].memory = grown(NULL, bytes);
        common[number].bytes = bytes;
    }
    return common[number].memory;
}

void world_alias(void *memory, size_t bytes) {
    static int descriptor = -1;
    uintptr_t page = 4096, start = ((uintptr_t)memory + page - 1) / page * page,
              end = ((uintptr_t)memory + bytes) / page * page;
    if (descriptor < 0) descriptor = memfd_create("mortar-sim-common", MFD_CLOEXEC);
    const int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
    if (ftruncate(descriptor, (off_t)(end - start)) < 0 ||
        mmap((void *)start, end - start, PROT_READ | PROT_WRITE, flags, descriptor, 0) ==
            MAP_FAILED) {
        perror("mortar-sim: common memory");
        exit(1);
    }
}

int world_processors(void) { return sg_host_core_count(sg_host_self()); }

const char *world_host(void) { return sg_host_self_get_name(); }
