/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster.h"

#include <stdlib.h>
#include <string.h>

enum { slot = 4096, space = 8 << 20 };

/* One world at a time, for all its threads. */
static struct world {
    int lowest[most_ranks];   /* rank on each rank's node */
    int here[most_ranks];     /* ranks on a node, by its lowest rank */
    void *memory[most_ranks]; /* of a node, likewise */
    uint32_t fan;             /* of a node's barrier */
    bool watch;               /* few ranks of a node have beacons */
    double sync_seconds;      /* that it is said to take */
    void (*body)(struct rank *rank, struct team *team);
} world;

static void build_world(int p, uint64_t *random) {
    int nodes = 2 + (int)draw_below(random, (uint32_t)(p < 6 ? p : 6) - 1),
        blocks = (int)draw_below(random, 2), first[most_ranks];
    memset(&world, 0, sizeof world);
    for (int n = 0; n < nodes; n++) first[n] = -1;
    for (int r = 0; r < p; r++) {
        int node = blocks      ? r * nodes / p
                   : r < nodes ? r
                               : (int)draw_below(random, (uint32_t)nodes);
        if (first[node] < 0) first[node] = r;
        world.lowest[r] = first[node];
        world.here[first[node]]++;
    }
    /* One gate, and a barrier that costs nothing, or a tree and one that costs more than all. */
    world.fan = draw_below(random, 2) ? 2 + draw_below(random, 2) : (uint32_t)p;
    world.sync_seconds = draw_below(random, 2);
    world.watch = draw_below(random, 2);
    for (int r = 0; r < p; r++)
        if (world.here[r])
            expect((world.memory[r] = calloc(1, control_size(world.here[r], slot, space))) != NULL,
                   "calloc");
}

/* The ranks find out who shares a node, and those of a node who they are, as in reach/over.c. */
static void meet(struct rank *rank, struct places *places) {
    int me = rank->team.me, p = rank->team.p, lowest[most_ranks], here[most_ranks];
    struct home homes[most_ranks],
        mine = {.node = 1 + (uint64_t)world.lowest[me] / 2, .pretended = world.lowest[me] % 2};
    struct wire wire = *rank->team.wire;
    struct team far = {.p = p, .me = me, .wire = &wire}, near = far;
    expect(messages_gather(&far, &mine, homes, sizeof mine) == 0, "no homes");
    places_lowest(homes, p, lowest);
    expect(memcmp(lowest, world.lowest, (size_t)p * sizeof *lowest) == 0, "other nodes");
    expect(places_make(places, p, lowest) == 0, "places");
    expect(places_one(homes, p) == (places->nodes == 1), "one of %d nodes", places->nodes);
    near.p = ranks_on(places, places->node_of[me]), near.me = places->local_of[me];
    wire.ranks = places->ranks + places->first[places->node_of[me]];
    expect(messages_gather(&near, &me, here, sizeof me) == 0 &&
               memcmp(here, wire.ranks, (size_t)near.p * sizeof *here) == 0,
           "others on my node");
}

static void join(struct rank *rank, struct team *team, struct places *places, struct team *node) {
    int me = rank->team.me, p = rank->team.p;
    meet(rank, places);
    *node = (struct team){.p = ranks_on(places, places->node_of[me]), .me = places->local_of[me]};
    team_attach(node, world.memory[world.lowest[me]], slot, space);
    node->names = calloc((size_t)node->p, sizeof *node->names);
    node->figures.usual_sync_seconds = world.sync_seconds;
    sync_shape(node, world.fan);
    if (world.watch && node->unlit) sync_watch(node);
    team_reserve_tables(node);
    node->progress = rank->team.progress, node->progress_state = rank->team.progress_state;
    *team =
        (struct team){.p = p, .me = me, .wire = rank->team.wire, .places = places, .node = node};
    team->fullest = figures_of_node(places->most);
    team->fullest.slot = node->figures.slot;
    team->fullest.space_bytes = node->figures.space_bytes;
    team->fullest.space_ample = true;
    team->figures = figures_over(places, &team->fullest);
}

static void body_on_nodes(struct rank *rank) {
    static struct team teams[most_ranks], nodes[most_ranks];
    struct team *team = &teams[rank->team.me], *node = &nodes[rank->team.me];
    struct places *places = calloc(1, sizeof *places);
    join(rank, team, places, node);
    sync_all(&rank->team, 0);
    world.body(rank, team);
    if (team->settle) team->settle(team);
    sync_all(&rank->team, 0);
    team_release(team);
    team_release(node);
}

void clusters_run(uint64_t *random, void (*prepare)(int p, uint64_t *random),
                  void (*body)(struct rank *rank, struct team *team)) {
    for (int p = 2; p <= most_ranks; p += p < 6 ? 1 : 3) {
        static struct crew crew;
        build_world(p, random);
        world.body = body;
        if (prepare) prepare(p, random);
        crew = (struct crew){
            .p = p, .slot = 64 * most_ranks, .room = 1 << 20, .seed = draw(random), .wired = true};
        crew.body = body_on_nodes;
        crew_run(&crew);
        for (int r = 0; r < p; r++) free(world.memory[r]);
    }
}
