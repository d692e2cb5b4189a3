/* SPDX-License-Identifier: BSD-3-Clause */
/* tally - what the calls of a plan waited for. */
#include "plan/plan.h"

#include <stdlib.h>

void tally_waits(struct tally *tally, const struct team *team) {
    const struct waits *waits = team->node ? &team->node->waits : &team->waits;
    if (!waits->on) return;
    tally->late_seconds += waits->late_seconds;
    tally->inside_seconds += waits->seconds - waits->late_seconds;
    if (waits->late_count > 0 && !tally->late)
        tally->late = calloc((size_t)team->p, sizeof *tally->late);
    for (int i = 0; i < waits->late_count && tally->late; i++) {
        int rank = waits->late[i].rank;
        if (team->node) rank = rank_at(team->places, team->places->node_of[team->me], rank);
        struct lateness *lateness = &tally->late[rank];
        lateness->times++;
        lateness->seconds += waits->late[i].seconds;
    }
}
