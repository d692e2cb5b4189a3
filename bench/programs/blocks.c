/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks - zeroed, small, grow, trim and beyond: what programs ask malloc and its family for, and
 * no collective. */
#define _GNU_SOURCE
#include "program.h"

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kib = 1 << 10, mib = 1 << 20, page = 4096 };

/* --iterations times: calloc of --size KiB, a write to each page, free. */
void program_zeroed(struct run *run) {
    size_t bytes = (size_t)run->size * kib;
    for (int step = 0; step < run->iterations; step++) {
        char *block = calloc(bytes, 1);
        for (size_t at = 0; block && at < bytes; at += page) {
            /* In the same line: the next page has not been touched yet. */
            size_t beside = at + (size_t)drawn(step, (int)(at / page), 46) + 1;
            *(volatile char *)(block + at) = 1;
            run->wrong += beside < bytes && block[beside] != 0;
        }
        run->wrong += !block;
        if (step == run->iterations - 1) look(run);
        free(block);
    }
}

struct smith {
    pthread_t thread;
    int number, thousands;
    long wrong;
};

/* Blocks of 16 to 1039 bytes, 1024 of them at any time; the oldest goes. */
static void *hammer(void *argument) {
    struct smith *smith = argument;
    enum { slots = 1024 };
    uint64_t *blocks[slots] = {0};
    uint32_t x = (uint32_t)smith->number + 1;
    for (uint64_t k = 0; k < (uint64_t)smith->thousands * 1000; k++) {
        uint64_t **slot = &blocks[k % slots];
        if (*slot) smith->wrong += **slot != k - slots;
        free(*slot);
        x = x * 1664525u + 1013904223u;
        *slot = malloc(16 + (x >> 22));
        if (*slot) **slot = k;
        else smith->wrong++;
    }
    for (int i = 0; i < slots; i++) free(blocks[i]);
    return NULL;
}

/* --size threads, each --iterations thousand times malloc and free of a small block. */
void program_small(struct run *run) {
    struct smith *smiths = untouched((size_t)run->size * sizeof *smiths);
    int count = 0;
    while (count < run->size) {
        struct smith *smith = &smiths[count];
        *smith = (struct smith){.number = count, .thousands = run->iterations};
        if (pthread_create(&smith->thread, NULL, hammer, smith) != 0) break;
        count++;
    }
    run->wrong += count < run->size;
    for (int i = 0; i < count; i++) {
        pthread_join(smiths[i].thread, NULL);
        run->wrong += smiths[i].wrong;
    }
    look(run);
    free(smiths);
}

/* --iterations times: an array that grows from 1 to --size MiB, 1 MiB at a time. */
void program_grow(struct run *run) {
    for (int step = 0; step < run->iterations; step++) {
        char *block = NULL;
        for (int size = 1; size <= run->size; size++) {
            char *longer = realloc(block, (size_t)size * mib);
            if (!longer) break;
            block = longer;
            memset(block + (size_t)(size - 1) * mib, size % 101, mib);
        }
        for (int size = 1; block && size <= run->size; size++) {
            size_t last = (size_t)size * mib - 1;
            run->wrong += block[last - (size_t)drawn(step, size, mib)] != size % 101;
        }
        run->wrong += !block;
        if (step == run->iterations - 1) look(run);
        free(block);
    }
}

/* --iterations times: --size MiB in blocks of 1000 bytes, all freed but one of 4096, malloc_trim.
 * The figures are those after it. */
void program_trim(struct run *run) {
    size_t count = (size_t)run->size * mib / 1000;
    char **blocks = untouched(count * sizeof *blocks);
    for (int step = 0; step < run->iterations; step++) {
        for (size_t i = 0; i < count; i++)
            blocks[i] = memset(untouched(1000), (int)(i % 101), 1000);
        for (size_t i = 0; i < count; i++)
            if (i % 4096 != 4095) free(blocks[i]);
        malloc_trim(0);
        if (step == run->iterations - 1) look(run);
        for (size_t i = 4095; i < count; i += 4096) {
            run->wrong += blocks[i][999] != (char)(i % 101);
            free(blocks[i]);
        }
    }
    free(blocks);
}

/* --iterations times: malloc of --size per cent of the machine's memory, and free. */
void program_beyond(struct run *run) {
    size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    int given = 0;
    for (int step = 0; step < run->iterations; step++) {
        char *volatile block = malloc(machine / 100 * (size_t)run->size);
        given += block != NULL;
        free(block);
    }
    look(run);
    run->answer = given == run->iterations ? "given" : given == 0 ? "refused" : "mixed";
}
