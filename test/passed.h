/* SPDX-License-Identifier: BSD-3-Clause */
/* passed.h - for tests of teams whose ranks are threads: a team with a past; counters wrap. */
#ifndef TEST_PASSED_H
#define TEST_PASSED_H

#include "reach/reach.h"

/* As if so many barriers lay behind the team, in each of its forms. For all ranks. */
static inline void have_passed(struct team *team, uint32_t epoch) {
    team->epoch = team->opened = epoch;
    for (uint32_t i = 0; i < team->rung_count; i++) {
        atomic_store(&team->rungs[i].gate->opened.word, epoch);
        atomic_store(&team->rungs[i].gate->arrived, epoch * team->rungs[i].width);
    }
    for (uint32_t half = 0; half < 2 && team->beacons; half++) {
        team->lit[half] = epoch;
        atomic_store(&beacon_of(team, half, team->me)->lit.word, epoch);
    }
}

#endif
