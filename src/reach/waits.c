/* SPDX-License-Identifier: BSD-3-Clause */
/* waits - of the time in a call, what a rank waits for ranks that have not entered it yet: the
 * program's imbalance, which no algorithm can help. The rest of its waiting, for peers to do their
 * part and for being woken, is the algorithm's own.
 *
 * Every rank leaves the time at which it entered where the memory rule of the control block lets
 * the others read it; the clock is the same for all processes of a node. At the first barrier of
 * the call the last to arrive finds who entered last, and tells all: from my arrival until then I
 * waited for that rank. So what a late rank costs is booked once on each rank that waited for it,
 * under its name, however many others were late too, but less so. */
#include "reach/reach.h"

#include <stdlib.h>

HOT void waits_begin(struct team *team, double now) {
    struct waits *waits = &team->waits;
    if (team->why_native) return;
    if (!waits->late) waits->late = malloc((size_t)team->p * sizeof *waits->late);
    if (!waits->late) return;
    waits->on = waits->open = true;
    waits->entered = now;
    waits->seconds = waits->late_seconds = 0;
    waits->late_count = 0;
}

HOT void waits_end(struct team *team) { team->waits.on = team->waits.open = false; }

HOT void waits_arrive(struct team *team) {
    post_of(team, team->epoch & 1, team->me)->entered = team->waits.entered;
}

HOT void waits_tell(struct team *team) {
    uint32_t half = team->epoch & 1;
    struct latest latest = {.entered = 0, .rank = team->me};
    for (int r = 0; r < team->p; r++) {
        double entered = post_of(team, half, r)->entered;
        if (entered > latest.entered) latest = (struct latest){entered, r};
    }
    team->control->latest[half] = latest;
    team->waits.open = false;
}

HOT void waits_hear(struct team *team) {
    const struct latest *latest = &team->control->latest[team->epoch & 1];
    waits_for(team, latest->rank, latest->entered);
    team->waits.open = false;
}

HOT void waits_for(struct team *team, int rank, double entered) {
    const struct waits *waits = &team->waits;
    double seconds = entered - waits->began;
    waits_late(team, seconds < waits->length ? seconds : waits->length, rank);
}

HOT void waits_late(struct team *team, double seconds, int rank) {
    struct waits *waits = &team->waits;
    if (seconds <= 0) return;
    waits->late_seconds += seconds;
    if (waits->late_count < team->p)
        waits->late[waits->late_count++] = (struct late){rank, seconds};
}
