/* SPDX-License-Identifier: BSD-3-Clause */
/* cost - the beta of the cost model; alpha is measured per team (sync_measure). */
#include "coll/coll.h"

/* Xeon (Sapphire Rapids) virtual machine with 2 cores, 2026-11, `mortar bench`: blocks of up to 64 bytes, and cached copies. */
static const double block_seconds = 6e-9, byte_seconds = 1 / 10e9;

double copy_seconds(double blocks, size_t bytes) { return blocks * (block_seconds + (double)bytes * byte_seconds); }

double crowding(const struct team *team) {
    return team->processors > 0 && team->p > team->processors ? (double)team->p / team->processors : 1;
}
