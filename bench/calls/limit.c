/* SPDX-License-Identifier: BSD-3-Clause */
/* limit - what memcpy and barriers alone can reach: each rank has its buffers, pages of its own
 * that it touched first, in one mapping shared by all; plain pointers lead to every block. What is
 * copied is copied once. A sum of long vectors is cut into a slice for each rank, which adds it up
 * and copies it to all. */
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
    int p, me, root, workers;
    enum { EXCHANGED, FROM_ROOT, SUMMED } what;
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
    l.root = cell->root;
    l.what = cell->kind->contents == SUM ? SUMMED : kind_rooted(cell->kind) ? FROM_ROOT : EXCHANGED;
    l.workers = world->processors < l.p ? world->processors : l.p;
    l.send_step = kind_same_to_all(cell->kind) ? 0 : cell->bytes;
    /* A root and the others have other buffers, but here all have the same places. */
    size_t out = l.what == EXCHANGED ? cell->out.bytes : cell->bytes;
    size_t in = l.what == EXCHANGED ? cell->in.bytes : cell->bytes;
    size_t spare = in < page ? page : 0;
    size_t recv_at = pages(out + spare), stride = recv_at + pages(in + spare);
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

#if defined(__x86_64__)
__attribute__((target_clones("avx2", "default"), optimize("O3")))
#endif
static void
add(double *restrict sum, const double *restrict more, size_t count) {
    for (size_t e = 0; e < count; e++) sum[e] += more[e];
}

/* Adds up the elements of all ranks from one place to another, into the results of ranks `first` to
 * `last`: strip by strip, which the first-level cache holds meanwhile. */
static void add_up(size_t from, size_t to, int first, int last) {
    enum { strip = 1024 };
    static _Alignas(line) double sum[strip];
    for (size_t at = from; at < to; at += strip) {
        size_t count = to - at < strip ? to - at : strip, begin = at * sizeof *sum;
        memcpy(sum, l.send[0] + begin, count * sizeof *sum);
        for (int i = 1; i < l.p; i++)
            add(sum, (const double *)(const void *)(l.send[i] + begin), count);
        for (int j = first; j <= last; j++) memcpy(l.recv[j] + begin, sum, count * sizeof *sum);
    }
}

/* Where rank r's slice of the vectors begins, in whole cache lines of elements. */
static size_t slice_at(int r) {
    enum { grain = line / sizeof(double) };
    size_t elements = l.bytes / sizeof(double), grains = (elements + grain - 1) / grain;
    size_t at = grains * (size_t)r / (size_t)l.p * grain;
    return at < elements ? at : elements;
}

/* Vectors that have a line for each rank. */
static bool is_sliced(void) { return l.what == SUMMED && l.bytes >= (size_t)line * (size_t)l.p; }

/* Short blocks are one or two instructions where the compiler knows the length. */
static void copy_row(int j, int first) {
    if (l.what == FROM_ROOT) {
        if (j != l.root) memcpy(l.recv[j], l.send[l.root], l.bytes);
        return;
    }
    if (l.what == SUMMED) {
        add_up(0, l.bytes / sizeof(double), j, j);
        return;
    }
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
    if (is_sliced()) add_up(slice_at(l.me), slice_at(l.me + 1), 0, l.p - 1);
    else copy_row(l.me, l.me);
    gate_pass(l.gate, (uint32_t)l.p, l.crowded);
}

static void copy_all(void) {
    if (l.what == SUMMED) add_up(0, l.bytes / sizeof(double), 0, l.p - 1);
    for (int j = 0; j < l.p && l.what != SUMMED; j++) copy_row(j, l.p - 1);
}

void limit_last(void) {
    uint32_t number = gate_number(l.gate);
    if (gate_arrive(l.gate, (uint32_t)l.p, number)) {
        copy_all();
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
