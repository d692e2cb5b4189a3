/* SPDX-License-Identifier: BSD-3-Clause */
/* sync - the barrier of a team: one counter and one epoch. With more ranks than processors a
 * barrier of any shape costs one context switch per rank, so this is the simplest shape. The
 * counter wraps and needs no reset. */
#include "reach/reach.h"

#include <string.h>

HOT bool sync_arrive(struct team *team, uint32_t trouble) {
    struct control *control = team->control;
    if (trouble)
        atomic_fetch_or_explicit(&control->trouble[team->epoch & 1], trouble, memory_order_relaxed);
    charge_settle();
    if (team->waits.open) waits_arrive(team);
    uint32_t arrived = atomic_fetch_add_explicit(&control->arrived, 1, memory_order_acq_rel) + 1;
    return arrived == (team->epoch + 1) * (uint32_t)team->p; /* both wrap alike */
}

HOT uint32_t sync_trouble(const struct team *team) {
    return atomic_load_explicit(&team->control->trouble[team->epoch & 1], memory_order_relaxed);
}

HOT uint32_t sync_release(struct team *team) {
    struct control *control = team->control;
    charge_barrier(team->p);
    charge_settle();
    uint32_t trouble = sync_trouble(team);
    /* All have arrived, so all have read the trouble of the barrier before: its word is free. */
    atomic_store_explicit(&control->trouble[(team->epoch + 1) & 1], 0, memory_order_relaxed);
    if (team->waits.open) waits_tell(team);
    team->epoch++;
    flag_set(&control->epoch, team->epoch);
    return trouble;
}

HOT uint32_t sync_wait(struct team *team) {
    flag_wait(team, &team->control->epoch, team->epoch);
    if (team->waits.open) waits_hear(team);
    uint32_t trouble = sync_trouble(team);
    team->epoch++;
    return trouble;
}

HOT uint32_t sync_all(struct team *team, uint32_t trouble) {
    return sync_arrive(team, trouble) ? sync_release(team) : sync_wait(team);
}

/* Seconds of one barrier. The warm-ups touch new pages and wait for late ranks. */
static double sync_time(struct team *team) {
    enum { warm_ups = 2, rounds = 4 };
    double start = 0;
    for (int i = -warm_ups; i < rounds; i++) {
        if (i == 0) start = clock_seconds();
        sync_all(team, 0);
    }
    double took = (clock_seconds() - start) / rounds;
    return took > 1 ? 1 : took;
}

void sync_measure(struct team *team, double known) {
    struct control *control = team->control;
    struct figures *figures = &team->figures;
    _Atomic uint32_t *nanoseconds = &control->sync_nanoseconds;
    if (team->me == 0) {
        const struct machine_facts *facts = machine_facts();
        atomic_store_explicit(&control->l2_bytes, facts->l2, memory_order_relaxed);
        atomic_store_explicit(&control->l3_bytes, facts->l3 * (size_t)facts->l3s,
                              memory_order_relaxed);
        atomic_store_explicit(nanoseconds, (uint32_t)(known * 1e9), memory_order_relaxed);
    }
    sync_all(team, 0);
    if (atomic_load_explicit(nanoseconds, memory_order_relaxed) == 0) {
        double took = sync_time(team);
        if (team->me == 0)
            atomic_store_explicit(nanoseconds, (uint32_t)(took * 1e9) + 1, memory_order_relaxed);
        sync_all(team, 0);
    }
    figures->sync_seconds = 1e-9 * atomic_load_explicit(nanoseconds, memory_order_relaxed);
    figures->usual_sync_seconds = sync_usual(team->p, figures->processors);
    figures->l2_bytes = atomic_load_explicit(&control->l2_bytes, memory_order_relaxed);
    figures->l3_bytes = atomic_load_explicit(&control->l3_bytes, memory_order_relaxed);
}

/* Two sets of words alternate. A rank that adds for the time k + 2 has passed the barrier after all
 * ranks' time k + 1, and before they added then they had read the sums of time k. So no rank adds
 * to words that another still has to read, and the words need no reset. */
void sums_add(struct team *team, const uint64_t values[2], uint64_t sums[2]) {
    if (team->wire) {
        messages_sum(team, values, sums);
        return;
    }
    if (team->sums_wanted) sums_read(team, team->sums_wanted);
    for (int i = 0; i < 2; i++)
        atomic_fetch_add_explicit(&team->control->sums[team->sums_count & 1][i], values[i],
                                  memory_order_relaxed);
    team->sums_count++;
    team->sums_wanted = sums;
}

void sums_read(struct team *team, uint64_t sums[2]) {
    if (team->sums_wanted != sums) return; /* written when somebody added again */
    uint32_t half = (team->sums_count - 1) & 1;
    for (int i = 0; i < 2; i++) {
        uint64_t total = atomic_load_explicit(&team->control->sums[half][i], memory_order_relaxed);
        sums[i] = total - team->sums_seen[half][i];
        team->sums_seen[half][i] = total;
    }
    team->sums_wanted = NULL;
}

bool team_agree(struct team *team, bool fine) {
    if (team->wire) return messages_agree(team, fine);
    return sync_all(team, fine ? 0 : REFUSED) == 0;
}

void team_tell(struct team *team, char text[64]) {
    if (team->wire) {
        messages_tell(team, text, 64);
        return;
    }
    char *advice = team->control->advice[team->epoch & 1];
    if (team->me == 0) memcpy(advice, text, 64);
    sync_all(team, 0);
    memcpy(text, advice, 64);
}
