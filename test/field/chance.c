/* SPDX-License-Identifier: BSD-3-Clause */
/* chance.c - dice whose rolls are a pure function of how they were made, and contents that are a
 * pure function of a key. The hash is the finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
#include <string.h>
#include <time.h>
#include "field.h"

static uint64_t scramble(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t mixed = scramble(scramble(a + 0x9e3779b97f4a7c15u) ^ (b * 0xd1342543de82ef95u + 1));
    return mixed ? mixed : 1;
}

uint64_t roll(struct dice *dice) { return scramble(dice->state += 0x9e3779b97f4a7c15u); }

int below(struct dice *dice, int limit) { return (int)(roll(dice) >> 33) % limit; }

bool chance(struct dice *dice, int percent) { return below(dice, 100) < percent; }

long draw_bytes(struct dice *dice, int power) {
    long size = 1L << power;
    switch (below(dice, 8)) {
    case 0: return size;
    case 1: return size - 1;
    case 2: return size + 1;
    case 3: return size + 8;
    case 4: return size > 8 ? size - 8 : size;
    default: return size + (long)(roll(dice) % (uint64_t)size);
    }
}

void shuffle(struct dice *dice, int *list, int length) {
    for (int i = length - 1; i > 0; i--) {
        int j = below(dice, i + 1), old = list[i];
        list[i] = list[j];
        list[j] = old;
    }
}

void contents(char *to, size_t bytes, uint64_t key) {
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        uint64_t word = scramble(key += 0x9e3779b97f4a7c15u);
        memcpy(to + at, &word, 8);
    }
    uint64_t word = scramble(key + 0x9e3779b97f4a7c15u);
    memcpy(to + at, &word, bytes - at);
}

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void pause_for(struct dice *dice) {
    bool asleep = chance(dice, 60);
    long us = 1L << below(dice, 12);
    us = us > 3000 ? 3000 : us;
    if (asleep) {
        nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
        return;
    }
    for (double end = now() + 1e-6 * (double)us; now() < end;) {}
}
