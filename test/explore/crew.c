/* SPDX-License-Identifier: BSD-3-Clause */
/* crew - see crew.h. */
#include "crew.h"

#include <string.h>

struct team teams[most_threads];

void crew_plain(void) {
    int p = scene_threads();
    for (int r = 0; r < p; r++) {
        struct team *team = &teams[r];
        uint32_t *turns = team->turns, count = team->turns_count;
        memset(team, 0, sizeof *team);
        team->p = p;
        team->me = r;
        team->figures.p = p;
        team->patience.crowded = true; /* one look before a nap */
        team->patience.mode = WAIT_FUTEX;
        team->turns = turns;
        team->turns_count = count;
    }
}

void crew_enter(void) {
    static struct late late[most_threads][most_threads];
    struct waits *waits = &crew_team()->waits;
    if (!scene_reported()) return;
    *waits = (struct waits){.on = true,
                            .open = crew_team()->control != NULL,
                            .entered = 2,
                            .began = 1,
                            .length = 2,
                            .late = late[thread_now()]};
}

void crew_shape(struct team *team, uint32_t fan) {
    if (fan == no_gates) sync_watch(team);
    else sync_shape(team, fan);
}

static void name_gate(const struct gate *gate, const char *name) {
    name_memory(gate, sizeof *gate, name);
}

void crew_begin(size_t slot) {
    size_t p = (size_t)scene_threads();
    crew_plain();
    struct control *control = share(sizeof *control + 2 * p * sizeof(struct post));
    struct gate *gates = share(gates_most((int)p) * sizeof *gates);
    uint32_t *seats = share(p * sizeof *seats);
    struct beacon *beacons = share(2 * p * sizeof *beacons);
    char *cards = share(2 * p * CARD_BYTES), *stage = share(2 * p * slot);
    name_memory(control->posts, 2 * p * sizeof(struct post), "posts");
    name_gate(&control->gate, "the gate");
    for (size_t g = 0; g < gates_most((int)p); g++) name_gate(&gates[g], "a gate");
    name_memory(control->sums, sizeof control->sums, "sums");
    name_memory(control->latest, sizeof control->latest, "latest");
    name_memory(control->advice, sizeof control->advice, "advice");
    name_memory(cards, 2 * p * CARD_BYTES, "cards");
    name_memory(stage, 2 * p * slot, "stage");
    name_memory(beacons, 2 * p * sizeof *beacons, "beacons");
    for (size_t r = 0; r < p; r++) {
        teams[r].control = control;
        teams[r].gates = gates;
        teams[r].seats = seats;
        teams[r].unlit = beacons;
        teams[r].cards = cards;
        teams[r].stage = stage;
        teams[r].stage_half = p * slot;
        teams[r].figures.slot = slot;
        sync_begin(&teams[r]);
    }
}
