/* SPDX-License-Identifier: BSD-3-Clause */
/* trial - calls through mortar, one alone or some back to back, and then what must have come out:
 * by messages, as the standard defines the collectives, by folding all operands, or by the host's
 * own collective. (That one is no judge of all: with derived types Open MPI 4.1, MPICH 4.0 and
 * Intel MPI get some wrong.) Every byte of the receive buffer is compared, with its gaps and
 * guards, and the send buffer must be as it was. */
#define _GNU_SOURCE
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

char trial_text[512];

struct run {
    struct ready ready;
    struct beside beside;
    /* Of the send buffer; of the receive buffer: before, after, and what it is left with. */
    char *send_copy, *before, *got, *left;
    double entered, came_out;
    bool fine;
};

static bool same(const struct trial *t, const char *what, const struct buffer *buffer,
                 const char *memory, const char *expected) {
    if (memcmp(memory, expected, buffer->bytes) == 0) return true;
    size_t at = 0, wrong = 0;
    while (memory[at] == expected[at]) at++;
    for (size_t i = at; i < buffer->bytes; i++) wrong += memory[i] != expected[i];
    fprintf(
        stderr,
        "FAILED rank %d of %d: %s: %zu bytes of %zu wrong, the first at buffer%+ld (buffer kind %d): %s\n",
        t->place->me, t->place->p, what, wrong, buffer->bytes,
        (long)(buffer->memory + at - buffer->base), (int)buffer->kind, t->text);
    return false;
}

/* ---- before ---- */

static bool get_ready(struct run *run, const struct trial *t) {
    struct random local = {t->seed * 31 + (uint64_t)t->place->me + 1};
    struct ready *c = &run->ready;
    struct buffer *send = &c->send.buffer, *recv = &c->recv.buffer;
    enum pattern pattern = traits[t->collective].pattern;
    *run =
        (struct run){.ready = {.trial = t, .comm = t->place->comm, .root = t->root}, .fine = true};
    bool fine = pattern == REDUCTION ? reduction_ready(c, &local)
                : pattern == NOTHING
                    ? buffer_make(send, KIND_heap, 0, 8, 0) && buffer_make(recv, KIND_heap, 0, 8, 0)
                    : blocks_ready(c, &local);
    if (!fine) return false;
    fill(recv->memory, recv->bytes, t->seed * 7 + (uint64_t)t->place->me);
    fill(send->memory, send->bytes, t->seed * 5 + (uint64_t)t->place->me);
    if (pattern == REDUCTION) {
        struct side *from = c->send.used ? &c->send : &c->recv;
        reduction_fill(c, from->buffer.base, from->blocks, reduction_seed(t, t->place->me));
    }
    run->send_copy = malloc(send->bytes);
    run->before = malloc(3 * recv->bytes);
    if (!run->send_copy || !run->before) return false;
    run->got = run->before + recv->bytes;
    run->left = run->got + recv->bytes;
    memcpy(run->send_copy, send->memory, send->bytes);
    memcpy(run->before, recv->memory, recv->bytes);
    return true;
}

static void let_go(struct run *run) {
    struct ready *c = &run->ready;
    free(run->send_copy);
    free(run->before);
    buffer_free(&c->send.buffer);
    buffer_free(&c->recv.buffer);
    buffer_free(&c->tables);
    free(c->send.spots);
    free(c->recv.spots);
    free(c->to);
}

/* ---- the call ---- */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* When the call has returned nobody may look at or write to my buffers any more: all get other
 * contents at once. */
static void run_call(struct run *run) {
    struct ready *c = &run->ready;
    const struct trial *t = c->trial;
    struct buffer *send = &c->send.buffer, *recv = &c->recv.buffer;
    memcpy(trial_text, t->text, sizeof trial_text);
    beside_begin(&run->beside, t);
    run->fine = same(t, "receive buffer before the call", recv, recv->memory, run->before);
    run->entered = now();
    call(&mortar, c);
    run->came_out = now();
    memcpy(run->got, recv->memory, recv->bytes);
    run->fine = same(t, "send buffer", send, send->memory, run->send_copy) && run->fine;
    memset(send->memory, 0x55, send->bytes);
    fill(recv->memory, recv->bytes, t->seed * 3);
    fill(run->left, recv->bytes, t->seed * 3);
    if (c->tables.memory) memset(c->tables.memory, 0x11, c->tables.bytes);
    if (t->beside == LEAVE_LATE) usleep(300); /* time for a straggler */
}

/* ---- after ---- */

/* The host's own collective on the same inputs. The tables were overwritten, so everything is laid
 * out anew. */
static void by_host(const struct run *run, const char *send, char *recv) {
    const struct trial *t = run->ready.trial;
    struct random local = {t->seed * 31 + (uint64_t)t->place->me + 1};
    struct ready again = {.trial = t, .comm = t->place->comm, .root = t->root};
    bool fine = traits[t->collective].pattern == REDUCTION ? reduction_ready(&again, &local)
                                                           : blocks_ready(&again, &local);
    if (!fine) abort();
    if (again.send.memory == again.send.buffer.base) again.send.memory = (void *)(uintptr_t)send;
    if (again.recv.memory == again.recv.buffer.base) again.recv.memory = recv;
    call(&host, &again);
    let_go(&(struct run){.ready = again});
}

/* Nobody comes out of a barrier before all are in it. All clocks of a machine are one. */
static bool barred(const struct run *run) {
    const struct trial *t = run->ready.trial;
    double last_in, first_out;
    host.allreduce(&run->entered, &last_in, 1, MPI_DOUBLE, MPI_MAX, t->place->comm);
    host.allreduce(&run->came_out, &first_out, 1, MPI_DOUBLE, MPI_MIN, t->place->comm);
    if (last_in <= first_out) return true;
    fprintf(stderr, "FAILED rank %d of %d: a rank came out before the last came in: %s\n",
            t->place->me, t->place->p, t->text);
    return false;
}

/* Operands in place behind the result of a reduce_scatter: the host may leave anything there. */
static void forget_operands(struct run *run, char *recv) {
    const struct ready *c = &run->ready;
    const struct buffer *buffer = &c->recv.buffer;
    size_t base = (size_t)(buffer->base - buffer->memory);
    size_t from = base + (size_t)reduction_result(c) * combination_bytes(c->trial->combination);
    memcpy(recv + from - base, run->before + from, buffer->bytes - from);
}

static void judge(struct run *run) {
    struct ready *c = &run->ready;
    const struct trial *t = c->trial;
    const struct buffer *recv = &c->recv.buffer;
    enum pattern pattern = traits[t->collective].pattern;
    run->fine = beside_end(&run->beside, t) && run->fine;
    if (t->collective == COLL_barrier) run->fine = barred(run) && run->fine;
    ptrdiff_t send_base = c->send.buffer.base - c->send.buffer.memory,
              recv_base = recv->base - recv->memory;
    char *expected = malloc(recv->bytes);
    memcpy(expected, run->before, recv->bytes);
    char *to = expected + recv_base, *got = run->got + recv_base;
    const char *from = c->send.used ? run->send_copy + send_base : run->before + recv_base;
    if (pattern != NOTHING && t->by_host) by_host(run, from, to);
    else if (pattern == REDUCTION) reduction_by_folding(c, to);
    else if (pattern != NOTHING) blocks_by_messages(c, from, to);
    bool operands = t->in_place && (t->collective == COLL_reduce_scatter ||
                                    t->collective == COLL_reduce_scatter_block);
    if (operands && t->by_host) forget_operands(run, to);
    /* Over several nodes a plan leaves some operations to the host. */
    bool maybe_host = t->native || t->place->apart;
    if (operands && maybe_host) forget_operands(run, got);
    if (pattern == REDUCTION) {
        reduction_canonical(c, to, reduction_result(c));
        reduction_canonical(c, got, reduction_result(c));
    }
    run->fine =
        same(t, "receive buffer after the call", recv, recv->memory, run->left) && run->fine;
    /* What the host leaves where nothing is defined is its business. */
    if (!(maybe_host && t->collective == COLL_exscan && t->place->me == 0))
        run->fine = same(t, "receive buffer", recv, run->got, expected) && run->fine;
    free(expected);
}

int trials_run(const struct trial *trials, int count, int (*force)(const char *)) {
    struct run runs[group] = {0};
    int failures = 0;
    for (int i = 0; i < count; i++)
        if (!get_ready(&runs[i], &trials[i])) abort();
    for (int i = 0; i < count; i++) {
        /* Forced anew it would be prepared anew. */
        bool before = i > 0 && trials[i].plan == trials[i - 1].plan;
        if (!before && force(trials[i].plan) != 0) return -1;
        run_call(&runs[i]);
    }
    for (int i = 0; i < count; i++) {
        judge(&runs[i]);
        failures += !runs[i].fine;
        let_go(&runs[i]);
    }
    arenas_reset();
    return failures;
}
