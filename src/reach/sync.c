/* SPDX-License-Identifier: BSD-3-Clause */
/* sync - the barrier of a team: a tree of gates, mostly one. A gate is a counter and a flag, in
 * lines of their own. Who arrives at a gate as the last goes on to the next one above; who is the
 * last of all opens the gates on its way down, and so does each rank that is released there.
 *
 * With more ranks than processors a barrier of any shape costs one context switch per rank: there
 * is one gate. With a processor for each rank the counter's line goes from core to core, one
 * hand-over after the other: 38 us with 192 ranks on two sockets, but 2 to 3 us with gates for 4,
 * both simulated (docs/cores.md). Counters wrap and need no reset.
 *
 * Few ranks with a processor each need no counter: each has a beacon, a line of its own, and
 * watches those of all others. A line comes to each of them once, instead of the counter's and then
 * the flag's, and what is short comes with it (stage_of): with 4 ranks 0.2 us instead of 0.4,
 * simulated. */
#include "reach/reach.h"

#include <string.h>

uint32_t sync_fan(const struct figures *figures) {
    enum { four = 4 };
    uint32_t p = (uint32_t)figures->p, asked = (uint32_t)option_number(OPTION_FAN);
    if (asked > 0) return asked > 1 ? asked : p;
    return are_spread(figures) ? four : p;
}

/* Those of the first memory domain come first: neighbours meet first. */
static uint32_t take_seat(struct team *team) {
    uint32_t me = (uint32_t)team->me, seat = 0;
    const uint32_t *domain_of = team->domain_of;
    if (!domain_of) return me;
    for (uint32_t r = 0; r < (uint32_t)team->p; r++)
        seat += domain_of[r] < domain_of[me] || (domain_of[r] == domain_of[me] && r < me);
    team->seats_differ = !domains_in_order(team);
    team->seats[seat] = me;
    return seat;
}

void sync_begin(struct team *team) {
    team->opened = 0;
    team->rung_count = 1;
    team->rungs[0] = (struct rung){&team->control->gate, (uint32_t)team->p, 0, 1};
}

/* The gates are new: ranks that are released late from the barrier before are at other ones. */
void sync_shape(struct team *team, uint32_t fan) {
    uint32_t count = (uint32_t)team->p, step = 1;
    struct gate *gates = team->gates;
    if (fan >= count) return;
    uint32_t mine = take_seat(team);
    team->opened = 0;
    for (team->rung_count = 0; count > 1; team->rung_count++, step *= fan) {
        uint32_t here = (count + fan - 1) / fan;
        mine /= fan;
        team->rungs[team->rung_count] = (struct rung){
            &gates[mine], mine + 1 < here ? fan : count - mine * fan, mine * fan * step, step};
        gates += here, count = here;
    }
}

/* `climbed` is 0 between barriers. */
HOT static inline bool meet(struct team *team, uint32_t *trouble) {
    const struct rung *rung = &team->rungs[team->climbed];
    struct gate *gate = rung->gate;
    charge_settle();
    if (team->climbed == 0 && team->waits.open) waits_arrive(team);
    if (*trouble) atomic_fetch_or_explicit(&gate->told, *trouble, memory_order_relaxed);
    uint32_t arrived = atomic_fetch_add_explicit(&gate->arrived, 1, memory_order_acq_rel) + 1;
    if (arrived != (team->opened + 1) * rung->width) return false; /* both wrap alike */
    /* All have arrived. Who comes next has passed this barrier: the word is free. */
    team->trouble = *trouble = atomic_load_explicit(&gate->told, memory_order_relaxed);
    if (*trouble) atomic_store_explicit(&gate->told, 0, memory_order_relaxed);
    team->climbed++;
    return true;
}

/* Goes on, and lets those go on that have met at the gates below. */
HOT static inline uint32_t open_gates(struct team *team, uint32_t trouble) {
    uint32_t turn = ++team->opened;
    team->epoch++;
    while (team->climbed > 0) {
        struct gate *gate = team->rungs[--team->climbed].gate;
        atomic_store_explicit(&gate->trouble, trouble, memory_order_relaxed);
        flag_set(&gate->opened, turn);
    }
    return trouble;
}

HOT static inline bool arrive(struct team *team, uint32_t *trouble) {
    while (!sync_is_top(team))
        if (!meet(team, trouble)) return false;
    return true;
}

HOT static inline uint32_t release(struct team *team) {
    charge_barrier(team->p);
    charge_settle();
    if (team->waits.open) waits_tell(team);
    return open_gates(team, team->trouble);
}

HOT static inline struct gate *gate_ahead(const struct team *team) {
    return team->rungs[team->climbed].gate;
}

/* It has opened. */
HOT static inline uint32_t pass(struct team *team) {
    if (team->waits.open) waits_hear(team);
    return open_gates(team, atomic_load_explicit(&gate_ahead(team)->trouble, memory_order_relaxed));
}

HOT static inline uint32_t wait(struct team *team) {
    flag_wait(team, &gate_ahead(team)->opened, team->opened);
    return pass(team);
}

HOT static inline bool wait_briefly(struct team *team, uint32_t *trouble) {
    if (!flag_wait_briefly(team, &gate_ahead(team)->opened, team->opened)) return false;
    *trouble = pass(team);
    return true;
}

/* Its steps, for who has something to do between them. */
SHORT_WAY bool sync_meet(struct team *team, uint32_t *trouble) { return meet(team, trouble); }
HOT uint32_t sync_release(struct team *team) { return release(team); }
HOT uint32_t sync_wait(struct team *team) { return wait(team); }
SHORT_WAY bool sync_wait_briefly(struct team *team, uint32_t *trouble) {
    return wait_briefly(team, trouble);
}
uint32_t sync_wait_longer(struct team *team) {
    flag_wait_longer(team, &gate_ahead(team)->opened, team->opened);
    return pass(team);
}

/* ---- few ranks, which watch each other ---- */

void sync_watch(struct team *team) { team->beacons = team->unlit; }

/* The ranks behind me come first, then those before me: not all look at the same line. */
HOT static inline int next_to(const struct team *team, int rank) {
    return rank + 1 < team->p ? rank + 1 : 0;
}

HOT static inline void light(struct team *team, uint32_t trouble) {
    uint32_t half = team->epoch & 1;
    struct beacon *mine = beacon_of(team, half, team->me);
    charge_settle();
    if (team->waits.open) waits_arrive(team);
    atomic_store_explicit(&mine->trouble, trouble, memory_order_relaxed);
    flag_set(&mine->lit, ++team->lit[half]);
}

/* It is lit when its word differs from this one. All have been lit as often as mine: who lights the
 * one of this half again has passed the next barrier, and so have all seen it. */
HOT static inline uint32_t word_before(const struct team *team) {
    return team->lit[team->epoch & 1] - 1;
}

HOT static inline struct flag *light_of(const struct team *team, int rank) {
    return &beacon_of(team, team->epoch & 1, rank)->lit;
}

/* All are lit. My line for the next barrier was read in the one before this: fetching it back may
 * take as long as all the rest. */
HOT static inline uint32_t see(struct team *team) {
    uint32_t trouble = 0;
    const struct beacon *beacons = beacon_of(team, team->epoch & 1, 0);
    for (int r = 0; r < team->p; r++)
        trouble |= atomic_load_explicit(&beacons[r].trouble, memory_order_relaxed);
    charge_barrier(team->p);
    team->waits.open = false;
    team->epoch++;
    line_to_write(beacon_of(team, team->epoch & 1, team->me));
    return trouble;
}

HOT static inline uint32_t watch(struct team *team) {
    uint32_t before = word_before(team);
    for (int r = next_to(team, team->me); r != team->me; r = next_to(team, r)) {
        if (flag_look(light_of(team, r)) != before) continue;
        flag_wait(team, light_of(team, r), before);
        if (team->waits.open) waits_for(team, r, post_of(team, team->epoch & 1, r)->entered);
    }
    return see(team);
}

HOT static inline bool watch_briefly(struct team *team, uint32_t *trouble) {
    uint32_t before = word_before(team);
    for (int r = next_to(team, team->me); r != team->me; r = next_to(team, r))
        if (!flag_wait_briefly(team, light_of(team, r), before)) return false;
    *trouble = see(team);
    return true;
}

static uint32_t watch_longer(struct team *team) {
    uint32_t before = word_before(team);
    int r = next_to(team, team->me);
    while (r != team->me && flag_look(light_of(team, r)) != before) r = next_to(team, r);
    if (r != team->me) flag_wait_longer(team, light_of(team, r), before);
    return watch(team);
}

/* ---- either way ---- */

SHORT_WAY uint32_t sync_all(struct team *team, uint32_t trouble) {
    if (!team->beacons) return arrive(team, &trouble) ? release(team) : wait(team);
    light(team, trouble);
    return watch(team);
}

SHORT_WAY bool sync_briefly(struct team *team, uint32_t *trouble) {
    if (team->beacons) {
        light(team, *trouble);
        return watch_briefly(team, trouble);
    }
    if (!arrive(team, trouble)) return wait_briefly(team, trouble);
    *trouble = release(team);
    return true;
}

uint32_t sync_longer(struct team *team) {
    return team->beacons ? watch_longer(team) : sync_wait_longer(team);
}

void sync_suit(struct team *team) {
    sync_shape(team, sync_fan(&team->figures));
    if (are_few(&team->figures) && option_number(OPTION_FAN) == 0) sync_watch(team);
}

/* ---- its time ---- */

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
        atomic_store_explicit(&control->l2_bytes, machine_facts()->l2, memory_order_relaxed);
        atomic_store_explicit(&control->l3_bytes, machine_l3_bytes(), memory_order_relaxed);
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
void sums_add(struct team *team, const uint64_t values[sum_words], uint64_t sums[sum_words]) {
    if (team->wire) {
        messages_sum(team, values, sums, sum_words);
        return;
    }
    if (team->sums_wanted) sums_read(team, team->sums_wanted);
    for (int i = 0; i < sum_words; i++)
        atomic_fetch_add_explicit(&team->control->sums[team->sums_count & 1][i], values[i],
                                  memory_order_relaxed);
    team->sums_count++;
    team->sums_wanted = sums;
}

void sums_read(struct team *team, uint64_t sums[sum_words]) {
    if (team->sums_wanted != sums) return; /* written when somebody added again */
    uint32_t half = (team->sums_count - 1) & 1;
    for (int i = 0; i < sum_words; i++) {
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
