/* SPDX-License-Identifier: BSD-3-Clause */
/* wait - in place of src/reach/wait.c: ranks are coroutines, so who waits sleeps until it is woken,
 * and messages move by themselves. */
#include "reach/reach.h"

#include "world.h"

/* Nobody asks: simulated ranks do not die, and a simulation in which all wait ends by itself. */
void (*wait_doubt)(const struct team *team);

uint32_t flag_wait(struct team *team, struct flag *flag, uint32_t old) {
    struct waits *waits = &team->waits;
    charge_settle();
    if (waits->on) waits->began = clock_seconds();
    bool waited = false;
    for (; flag_look(flag) == old; waited = true) world_park(&flag->sleepers);
    /* Its cache line comes over from the writer's processor. */
    if (waited) world_spend(world_prices()->flag);
    if (waits->on) waits->seconds += waits->length = clock_seconds() - waits->began;
    return flag_look(flag);
}

/* There is no longer wait. */
bool flag_wait_briefly(struct team *team, struct flag *flag, uint32_t old) {
    flag_wait(team, flag, old);
    return true;
}
void flag_wait_longer(struct team *team, struct flag *flag, uint32_t old) {
    (void)team, (void)flag, (void)old;
}

/* Messages move by themselves. */
void drive_due(struct team *team) { (void)team; }

/* Ranks have time: nobody comes late. */
bool flag_wait_for(struct team *team, struct flag *flag, uint32_t old, double seconds) {
    (void)seconds;
    flag_wait(team, flag, old);
    return true;
}

void flag_wake(struct flag *flag) { world_wake(&flag->sleepers); }

void wait_until(struct team *team, bool (*done)(void *state), void *state) {
    (void)team;
    charge_settle();
    while (!done(state)) /* What blocks in MPI is done at once; else it is asked again and again. */
        world_spend(world_prices()->flag);
}
