/* SPDX-License-Identifier: BSD-3-Clause */
/* cost - the beta of the cost model; alpha is the team's (sync_measure). */
#include "coll/coll.h"

/* EPYC virtual machine with 2 cores, 2026-11, `mortar bench`: a short block; a byte in the second level cache; one that ranks of
 * one processor hand on, one that goes from processor to processor, one that goes through memory. */
static const double block_seconds = 6e-9, near_seconds = 1 / 25e9, own_seconds = 1 / 20e9, other_seconds = 1 / 10e9,
                    memory_seconds = 1 / 3.7e9;

static bool leaves_caches(const struct team *team, double blocks, size_t bytes) {
    static const size_t unknown_cache = 32 << 20;
    return 2 * blocks * (double)bytes > (double)(team->l3_bytes ? team->l3_bytes : unknown_cache);
}

bool streams(const struct team *team, size_t bytes) { return leaves_caches(team, (double)team->p * team->p, bytes); }

bool call_streams(const struct team *team, const struct shape *shape) {
    double blocks = (double)team->p * team->p;
    if (among(shape->collective, ROOTED)) blocks = team->p;
    if (among(shape->collective, NEIGHBORS)) blocks = team->neighbours[0] ? (double)team->neighbours[0]->edge_count : 0;
    return leaves_caches(team, blocks, shape->bytes);
}

double copy_seconds(const struct team *team, double blocks, size_t bytes) {
    double each = crowding(team) > 1 ? own_seconds : other_seconds;
    if (crowding(team) <= 1 && 3 * (size_t)team->p * bytes <= team->l2_bytes) each = near_seconds; /* sent, staged, received */
    if (streams(team, bytes)) each = memory_seconds;
    return blocks * (block_seconds + (double)bytes * each);
}

double typical_blocks(const struct team *team, const struct shape *shape) {
    enum { usual = 6 }; /* a grid of three dimensions */
    return among(shape->collective, NEIGHBORS) && team->p > usual ? usual : team->p;
}

double crowding(const struct team *team) {
    return team->processors > 0 && team->p > team->processors ? (double)team->p / team->processors : 1;
}
