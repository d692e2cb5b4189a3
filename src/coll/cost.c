/* SPDX-License-Identifier: BSD-3-Clause */
/* cost - the beta of the cost model; alpha is measured per team (sync_measure). */
#include "coll/coll.h"

/* Virtual machines with 2 cores, Xeon (Sapphire Rapids) and EPYC, 2026-11, `mortar bench`: a short block; a byte that ranks of one
 * processor hand on in its caches, one that goes from processor to processor, one that goes through memory. */
static const double block_seconds = 6e-9, own_seconds = 1 / 20e9, other_seconds = 1 / 10e9, memory_seconds = 1 / 3.7e9;

bool streams(const struct team *team, size_t bytes) {
    static const size_t unknown_cache = 32 << 20;
    return 2.0 * team->p * team->p * (double)bytes > (double)(team->l3_bytes ? team->l3_bytes : unknown_cache);
}

double copy_seconds(const struct team *team, double blocks, size_t bytes) {
    double each = streams(team, bytes) ? memory_seconds : crowding(team) > 1 ? own_seconds : other_seconds;
    return blocks * (block_seconds + (double)bytes * each);
}

double crowding(const struct team *team) {
    return team->processors > 0 && team->p > team->processors ? (double)team->p / team->processors : 1;
}
