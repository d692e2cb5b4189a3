/* SPDX-License-Identifier: BSD-3-Clause */
/* cost - the beta of the cost model; alpha is the team's (sync_measure). */
#include "coll/coll.h"

/* EPYC virtual machine with 2 cores, 2026-11, `mortar bench`: seconds for a short block, and per
 * byte: within the second level cache, between ranks of one processor, between processors, and
 * through memory. */
static const double block_seconds = 6e-9, near_seconds = 1 / 25e9, own_seconds = 1 / 20e9,
                    other_seconds = 1 / 10e9, memory_seconds = 1 / 3.7e9;

static size_t l3_of(const struct figures *f) {
    static const size_t unknown_cache = 32 << 20;
    return f->l3_bytes ? f->l3_bytes : unknown_cache;
}

static bool leaves_caches(const struct figures *f, double blocks, size_t bytes) {
    return 2 * blocks * (double)bytes > (double)l3_of(f);
}

bool streams(const struct figures *f, size_t bytes) {
    return leaves_caches(f, (double)f->p * f->p, bytes);
}

bool call_streams(const struct figures *f, const struct shape *shape) {
    double blocks = (double)f->p * f->p;
    if (among(shape->collective, ROOTED)) blocks = f->p;
    if (among(shape->collective, NEIGHBORS)) blocks = (double)f->edge_count;
    return leaves_caches(f, blocks, shape->bytes);
}

static double copies_seconds(const struct figures *f, double blocks, size_t bytes, bool leaves) {
    double each = crowding(f) > 1 ? own_seconds : other_seconds;
    /* The three copies: sent, staged, received. */
    if (crowding(f) <= 1 && 3 * (size_t)f->p * bytes <= f->l2_bytes) each = near_seconds;
    if (leaves) each = memory_seconds;
    return blocks * (block_seconds + (double)bytes * each);
}

double copy_seconds(const struct figures *f, double blocks, size_t bytes) {
    return copies_seconds(f, blocks, bytes, streams(f, bytes));
}

double vector_copy_seconds(const struct figures *f, double pieces, size_t bytes, size_t vector) {
    return copies_seconds(f, pieces, bytes, leaves_caches(f, f->p, vector));
}

double staged_seconds(const struct figures *f, double blocks, size_t bytes) {
    size_t stage = 2 * (size_t)f->p * f->slot;
    if (!streams(f, bytes) || 2 * stage >= l3_of(f)) return copy_seconds(f, blocks, bytes);
    double each = crowding(f) > 1 ? own_seconds : other_seconds;
    return blocks * (block_seconds + (double)bytes * each);
}

double typical_blocks(const struct figures *f, const struct shape *shape) {
    enum { usual = 6 }; /* a grid of three dimensions */
    return among(shape->collective, NEIGHBORS) && f->p > usual ? usual : f->p;
}

double crowding(const struct figures *f) {
    return f->processors > 0 && f->p > f->processors ? (double)f->p / f->processors : 1;
}
