/* SPDX-License-Identifier: BSD-3-Clause */
/* race - shared memory, and who touched each byte of it other than atomically. Two such accesses of
 * which one writes must be ordered by what happens before what. */
#include "inside.h"

#include <stdio.h>
#include <string.h>

enum { shared_most = 1 << 20 };

static _Alignas(4096) char memory[shared_most];
static size_t taken, cleared;
static uint32_t execution; /* the shadow of an earlier one is empty */
static struct shadow {
    uint32_t execution;
    int8_t writer;
    bool atomic;
    int16_t wrote, read[most_threads]; /* events of that thread before the access; -1: none */
} shadows[shared_most];

void *share(size_t bytes) {
    char *at = memory + taken;
    taken += (bytes + 127) / 128 * 128;
    if (taken > shared_most) fault("too little shared memory");
    if (taken > cleared) cleared = taken;
    return at;
}

void race_begin(void) {
    memset(memory, 0, cleared);
    taken = 0;
    execution++;
}

static struct shadow *shadow_of(uintptr_t address) {
    if (address < (uintptr_t)memory || address >= (uintptr_t)memory + taken) return NULL;
    return &shadows[address - (uintptr_t)memory];
}

bool is_shared(uintptr_t address) { return shadow_of(address) != NULL; }

void race_atomic(uintptr_t address, size_t bytes) {
    struct shadow *shadow = shadow_of(address);
    for (size_t i = 0; shadow && i < bytes; i++) shadow[i].atomic = true;
}

static void check(struct shadow *shadow, uintptr_t address, bool write) {
    if (shadow->execution != execution) {
        *shadow = (struct shadow){.execution = execution, .writer = -1, .atomic = shadow->atomic};
        memset(shadow->read, -1, sizeof shadow->read);
    }
    const int16_t *seen = thread_happened[current].seen;
    const char *what = NULL;
    int other = shadow->writer;
    if (shadow->atomic) what = "also an atomic word";
    else if (other >= 0 && other != current && seen[other] <= shadow->wrote)
        what = write ? "two writes" : "a write, and then a read";
    for (int t = 0; write && !what && t < most_threads; t++)
        if (t != current && shadow->read[t] >= 0 && seen[t] <= shadow->read[t])
            what = "a read, and then a write", other = t;
    if (what) {
        char text[160];
        snprintf(text, sizeof text, "data race at %s: %s, of ranks %d and %d", name_of(address),
                 what, other, current);
        fault(text);
    }
    if (write) {
        shadow->writer = (int8_t)current;
        shadow->wrote = (int16_t)executed[current];
    } else shadow->read[current] = (int16_t)executed[current];
}

void race_access(uintptr_t address, size_t bytes, bool write) {
    struct shadow *shadow = shadow_of(address);
    if (!shadow || current < 0) return;
    for (size_t i = 0; i < bytes; i++) check(&shadow[i], address + i, write);
}
