/* SPDX-License-Identifier: BSD-3-Clause */
/* lane_teams - lanes: teams of one rank of each node, on the wire of the whole team. A rank of a
 * small node may be in several lanes; it runs them one after the other in the order of their
 * numbers, which avoids deadlock. */
#include "reach/reach.h"

#include <stdlib.h>

static struct team *lane_teams_make(const struct team *team, int l) {
    const struct places *places = team->places;
    struct team *lane = calloc(1, sizeof *lane);
    struct wire *wire = malloc(sizeof *wire);
    int *ranks = calloc((size_t)places->nodes, sizeof *ranks);
    if (!lane || !wire || !ranks) {
        free(lane);
        free(wire);
        free(ranks);
        return NULL;
    }
    int home = places->node_of[team->me];
    for (int n = 0; n < places->nodes; n++) ranks[n] = rank_at(places, n, l % ranks_on(places, n));
    bool in = ranks[home] == team->me;
    if (team->wire->ranks)
        for (int n = 0; n < places->nodes; n++) ranks[n] = team->wire->ranks[ranks[n]];
    *wire = *team->wire;
    wire->ranks = ranks;
    wire->tag += TAGS * (1 + l);
    wire->native = NULL;
    lane->figures = figures_of_lane(&team->figures);
    lane->p = lane->figures.p;
    lane->me = in ? home : -1;
    lane->wire = wire;
    lane->patience = team->patience;
    return lane;
}

struct team *team_lane(struct team *team, int l) {
    if (!team->lanes) team->lanes = calloc((size_t)team->places->most, sizeof *team->lanes);
    if (!team->lanes || l >= team->places->most) return NULL;
    if (!team->lanes[l]) team->lanes[l] = lane_teams_make(team, l);
    return team->lanes[l];
}

void team_free_lanes(struct team *team) {
    for (int l = 0; team->lanes && l < team->places->most; l++) {
        if (!team->lanes[l]) continue;
        team_free_kept(team->lanes[l]);
        free((void *)(uintptr_t)team->lanes[l]->wire->ranks);
        free(team->lanes[l]->wire);
        free(team->lanes[l]);
    }
    free(team->lanes);
    team->lanes = NULL;
}
