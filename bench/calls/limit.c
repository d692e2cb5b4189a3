/* SPDX-License-Identifier: BSD-3-Clause */
/* limit - what memcpy and barriers alone can reach: each rank has its buffers, pages of its own
 * that it touched first, in one mapping shared by all; plain pointers lead to every block. p^2 n
 * bytes are copied once. */
#define _GNU_SOURCE
#include "bench/common/bench.h"
#include "bench/common/gate.h"

#include "copy/copy.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <string.h>

enum { page = 4096, line = 64 };

static struct limit {
    struct gate *gate; /* the first page */
    size_t mapped, bytes, send_step;
    char **send, **recv; /* [p] where each rank's buffers begin; one allocation */
    int p, me, workers;
    bool crowded;
} l;

char *limit_send(void) { return l.send[l.me]; }
char *limit_recv(void) { return l.recv[l.me]; }

static size_t pages(size_t bytes) { return (bytes + page - 1) / page * page; }

/* Buffers shorter than a page begin at different cache lines of their pages: else the first blocks
 * of all ranks would compete for the same few places of the first-level cache. */
bool limit_open(const struct world *world, const struct cell *cell) {
    if (world->nodes > 1) return false;
    l = (struct limit){
        .bytes = cell->bytes, .p = world->p, .me = world->me, .crowded = world->crowded};
    l.workers = world->processors < l.p ? world->processors : l.p;
    l.send_step = kind_same_to_all(cell->kind) ? 0 : cell->bytes;
    size_t spare = cell->in.bytes < page ? page : 0;
    size_t recv_at = pages(cell->out.bytes + spare),
           stride = recv_at + pages(cell->in.bytes + spare);
    l.mapped = page + stride * (size_t)l.p;
    l.gate = shared_map(l.mapped);
    l.send = malloc(2 * (size_t)l.p * sizeof *l.send);
    if (meet_max(!l.gate || !l.send) != 0) {
        limit_close();
        return false;
    }
    l.recv = l.send + l.p;
    for (int i = 0; i < l.p; i++) {
        l.send[i] = (char *)l.gate + page + stride * (size_t)i +
                    (spare ? (size_t)i % (page / line) * line : 0);
        l.recv[i] = l.send[i] + recv_at;
    }
    return true;
}

void limit_close(void) {
    shared_unmap(l.gate, l.mapped);
    free(l.send);
    l.gate = NULL, l.send = NULL;
}

/* Row j: the blocks that rank j receives, starting with the one behind `first`. */
static inline __attribute__((always_inline)) void row(int j, int first, size_t bytes) {
    char *recv = l.recv[j];
    size_t offset = l.send_step * (size_t)j;
    for (int i = first + 1; i < l.p; i++)
        memcpy(recv + bytes * (size_t)i, l.send[i] + offset, bytes);
    for (int i = 0; i <= first; i++) memcpy(recv + bytes * (size_t)i, l.send[i] + offset, bytes);
}

/* Short blocks are one or two instructions where the compiler knows the length. */
static void copy_row(int j, int first) {
    switch (l.bytes) {
    case 4: row(j, first, 4); break;
    case 8: row(j, first, 8); break;
    case 16: row(j, first, 16); break;
    case 32: row(j, first, 32); break;
    case 64: row(j, first, 64); break;
    default: row(j, first, l.bytes);
    }
}

void limit_rows(void) {
    gate_pass(l.gate, (uint32_t)l.p, l.crowded);
    copy_row(l.me, l.me);
    gate_pass(l.gate, (uint32_t)l.p, l.crowded);
}

void limit_last(void) {
    uint32_t number = gate_number(l.gate);
    if (gate_arrive(l.gate, (uint32_t)l.p, number)) {
        for (int j = 0; j < l.p; j++) copy_row(j, l.p - 1);
        gate_open(l.gate, number);
    } else {
        gate_wait(l.gate, number, l.crowded);
    }
}

/* Sleeps while others work. The worker that comes last wakes everybody. */
static void sleep_until_passed(uint32_t number) {
    while (!gate_passed(l.gate, number))
        syscall(SYS_futex, &l.gate->passed, FUTEX_WAIT, number, NULL, NULL, 0);
}

void limit_stream(void) {
    const struct copier copier = {.kernel = kernels[KERNEL_nt].usable() ? KERNEL_nt : KERNEL_plain};
    uint32_t number = gate_number(l.gate);
    for (int j = l.me; j < l.p && l.me < l.workers; j += l.workers)
        for (int i = 0; i < l.p; i++)
            copy_block(&copier, l.recv[j] + l.bytes * (size_t)i,
                       l.send[i] + l.send_step * (size_t)j, l.bytes);
    if (gate_arrive(l.gate, (uint32_t)l.p, number)) {
        gate_open(l.gate, number);
        syscall(SYS_futex, &l.gate->passed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    } else {
        sleep_until_passed(number);
    }
}
