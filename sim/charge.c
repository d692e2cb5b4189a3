/* SPDX-License-Identifier: BSD-3-Clause */
/* charge - what copying and barriers cost in a simulation; see base/charge.h. What is charged adds
 * up until others could see what it was spent on. */
#include "base/charge.h"

#include "world.h"

static double owed; /* of this rank */

void charge_copy(size_t pieces, size_t bytes) {
    const struct world_prices *prices = world_prices();
    owed += (double)pieces * prices->piece + (double)bytes * prices->byte;
}

void charge_combine(size_t bytes) {
    const struct world_prices *prices = world_prices();
    owed += prices->piece + (double)bytes * prices->combine;
}

void charge_barrier(int ranks) {
    const struct world_prices *prices = world_prices();
    if (ranks > 1) owed += prices->barrier + ranks * prices->barrier_each;
}

void charge_settle(void) {
    double seconds = owed;
    owed = 0;
    world_spend(seconds);
}
