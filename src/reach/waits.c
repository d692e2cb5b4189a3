/* SPDX-License-Identifier: BSD-3-Clause */
/* waits - how long a rank waits in a call for ranks that have not entered it yet. That is the
 * program's imbalance, which no algorithm can reduce. The rest of its waiting, for peers to do
 * their part and for being woken, is due to the algorithm.
 *
 * Every rank writes the time at which it entered the call into its post; all processes of a node
 * have the same clock. At the first barrier of the call the last rank to arrive finds the rank that
 * entered last, and publishes it: from my arrival until that rank entered I waited for it. So each
 * rank books its wait once, under the latest rank, even if others were late too. Where ranks watch
 * each other's beacons each wait is for one rank, and is booked under that (sync.c). */
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
    struct waits *waits = &team->waits;
    if (!waits->on) return; /* then `entered` may be anything, and a program may have traps on */
    double seconds = entered - waits->began;
    if (seconds > waits->length) seconds = waits->length;
    if (seconds <= 0) return;
    waits->late_seconds += seconds;
    if (waits->late_count < team->p)
        waits->late[waits->late_count++] = (struct late){rank, seconds};
}
