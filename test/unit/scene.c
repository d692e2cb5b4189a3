/* SPDX-License-Identifier: BSD-3-Clause */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

enum { before_send = 0x55, before_recv = 0x77 };

static const unsigned equal_blocks = BIT(alltoall) | BIT(allgather) | BIT(bcast) | BIT(gather) |
                                     BIT(scatter) | BIT(neighbor_alltoall) |
                                     BIT(neighbor_allgather);

/* ---- graphs ---- */

/* A ring through all ranks, or not, and edges between any two; first blocks that are nobody's. */
void graph_draw(struct graph *graph, int p, uint64_t *random) {
    uint32_t ranks = (uint32_t)p, ring = draw_below(random, 2),
             more = draw_below(random, 2 * ranks), dest[4 * most_ranks];
    *graph = (struct graph){.p = p, .connected = ring};
    graph->outs[draw_below(random, ranks)] = graph->ins[draw_below(random, ranks)] = 1;
    for (uint32_t source = 0; source < ranks; source++) {
        uint32_t mine = ring + more / ranks + (source < more % ranks);
        for (uint32_t e = 0; e < mine; e++) {
            dest[graph->count] = e == 0 && ring ? (source + 1) % ranks : draw_below(random, ranks);
            graph->edge[graph->count++] =
                (struct edge){.source = source, .out = (uint32_t)graph->outs[source]++};
        }
    }
    for (int e = graph->count - 1; e >= 0; e--) {
        graph->edge[e].dest = dest[e];
        graph->edge[e].in = (uint32_t)graph->ins[dest[e]]++;
    }
}

/* ---- the definitions: whose block is it? ---- */

static const struct edge *edge_to(const struct graph *graph, int dest, int in) {
    for (int e = 0; e < graph->count; e++)
        if ((int)graph->edge[e].dest == dest && (int)graph->edge[e].in == in)
            return &graph->edge[e];
    return NULL;
}

/* A block by its sender and its number there. */
struct origin {
    int source, number; /* source -1: nobody's */
};

/* Block b of what rank `me` sends, or receives. */
static struct origin origin_of(const struct scene *scene, int me, int b, bool receives) {
    enum collective c = scene->collective;
    bool personal = is_personal(c);
    if (!receives) return (struct origin){me, personal || among(c, SCATTERS) ? b : 0};
    if (among(c, BIT(bcast))) return (struct origin){scene->root, 0};
    if (among(c, SCATTERS)) return (struct origin){scene->root, me};
    if (!among(c, NEIGHBORS)) return (struct origin){b, personal ? me : 0};
    const struct edge *edge = edge_to(scene->graph, me, b);
    return edge ? (struct origin){(int)edge->source, personal ? (int)edge->out : 0}
                : (struct origin){-1, b};
}

static int blocks_of(const struct scene *scene, int me, bool receives) {
    enum collective c = scene->collective;
    bool root = me == scene->root;
    if (among(c, BIT(bcast))) return root != receives;
    if (among(c, GATHERS)) return receives ? root ? scene->p : 0 : 1;
    if (among(c, SCATTERS)) return receives ? 1 : root ? scene->p : 0;
    if (!receives && !is_personal(c)) return 1;
    if (!among(c, NEIGHBORS)) return scene->p;
    return receives ? scene->graph->ins[me] : scene->graph->outs[me];
}

static uint64_t key_of(const struct scene *scene, struct origin origin) {
    uint64_t key =
        scene->seed + (uint64_t)(origin.source + 2) * 1000003 + (uint64_t)origin.number * 7919;
    return draw(&key) | 1;
}

/* Of blocks of any size: all alike, few that are not empty, all different, one that is long. */
static size_t bytes_of(const struct scene *scene, struct origin origin) {
    uint64_t random = key_of(scene, origin);
    size_t unit = scene->runs ? 1 : piece, all = scene->each / unit;
    if (among(scene->collective, equal_blocks) || scene->style == 0) return all * unit;
    if (scene->style == 1 && draw_below(&random, 3)) return 0;
    if (scene->style == 2 && origin.source != scene->root) all = all < 6 ? all : 6;
    return draw_below(&random, (uint32_t)all + 1) * unit;
}

/* ---- the call ---- */

struct scene scene_draw(struct rank *rank, enum collective collective, const struct graph *graph,
                        size_t most) {
    uint64_t *common = &rank->common;
    struct scene scene = {
        .collective = collective, .graph = graph, .p = rank->team.p, .seed = draw(common)};
    scene.root = (int)draw_below(common, (uint32_t)scene.p);
    scene.each = draw_bytes(common, draw_below(common, 4) ? most / 16 + 1 : most);
    scene.style = (int)draw_below(common, 4);
    scene.in_place = draw_below(common, 3) == 0;
    scene.runs = draw_below(common, 2);
    scene.reached = draw_below(common, 2);
    scene.commutes = draw_below(common, 2);
    scene.any_order = collective == COLL_reduce && scene.commutes && draw_below(common, 2);
    if (!scene.runs) scene.each = (scene.each + piece - 1) / piece * piece;
    for (int r = 0; r < scene.p; r++)
        scene.counts[r] = (int)draw_below(common, (uint32_t)(scene.each / 8 / (size_t)scene.p) + 2);
    return scene;
}

static size_t elements_of(const struct scene *scene) {
    size_t all = 0, p = (size_t)scene->p;
    for (size_t r = 0; r < p; r++) all += (size_t)scene->counts[r];
    if (all == 0 || scene->collective == COLL_reduce_scatter_block) return (all / p + 1) * p;
    return all;
}

struct shape scene_shape(const struct scene *scene, const struct team *team) {
    enum collective c = scene->collective;
    struct shape shape = {.collective = c, .unsized = among(c, UNSIZED)};
    if (among(c, NEIGHBORS) && !scene->graph->connected) shape.unsized = true;
    if (among(c, equal_blocks) && !shape.unsized) shape.bytes = scene->each;
    if (c == COLL_allgatherv) {
        for (int r = 0; r < scene->p; r++) shape.bytes += bytes_of(scene, (struct origin){r, 0});
        shape.bytes = (shape.bytes + (size_t)scene->p - 1) / (size_t)scene->p;
    }
    if (!among(c, REDUCTIONS)) return shape;
    bool parts = among(c, BIT(reduce_scatter) | BIT(reduce_scatter_block));
    shape.bytes = (elements_of(scene) * 8 + (parts ? (size_t)scene->p - 1 : 0)) /
                  (parts ? (size_t)scene->p : 1);
    shape.ordered = !scene->commutes && team->places && !team->places->in_order;
    return shape;
}

/* ---- blocks ---- */

static void collect(const struct scene *scene, int me, struct side *side, bool receives) {
    bool runs = side->runs, reached = side->reached;
    int count = blocks_of(scene, me, receives);
    memset(side, 0, sizeof *side);
    side->runs = runs, side->reached = reached;
    for (int b = 0; b < count; b++) {
        struct origin origin = origin_of(scene, me, b, receives);
        side->bytes[b] = bytes_of(scene, origin);
        side->key[b] = origin.source < 0 ? 0 : key_of(scene, origin);
    }
}

static void find_neighbours(const struct scene *scene, uint32_t me, struct actor *actor) {
    const struct graph *graph = scene->graph;
    struct neighbours *n = &actor->neighbours;
    *n = (struct neighbours){.outs = graph->outs[me],
                             .ins = graph->ins[me],
                             .to = actor->to,
                             .from = actor->from,
                             .edges = (struct edge *)(uintptr_t)graph->edge,
                             .edge_count = (size_t)graph->count,
                             .lengths = graph->connected};
    for (int e = 0; e < graph->count; e++) {
        if (graph->edge[e].source == me) actor->to[n->to_count++] = graph->edge[e];
        if (graph->edge[e].dest == me) actor->from[n->from_count++] = graph->edge[e];
    }
}

static enum side_kind kind_of(enum collective c, bool receives) {
    if (among(c, equal_blocks)) return EQUAL;
    if (among(c, BIT(alltoallw) | BIT(neighbor_alltoallw))) return TYPES;
    if (among(c, GATHERS) || (!is_personal(c) && !among(c, SCATTERS)))
        return receives ? VARIES : EQUAL;
    return among(c, SCATTERS) && receives ? EQUAL : VARIES;
}

/* What is to be sent lies in the receive buffer already. */
static void be_in_place(const struct scene *scene, int me, struct actor *actor) {
    struct call *call = &actor->call;
    struct side *recv = &actor->recv;
    call->in_place = true;
    if (among(scene->collective, SCATTERS)) {
        recv->blocks.count = 0;
    } else if (is_personal(scene->collective)) {
        struct side sent = *recv;
        memcpy(sent.key, actor->send.key, sizeof sent.key);
        side_write(&sent, recv->memory);
        actor->send.blocks = recv->blocks;
    } else {
        struct block own = block_of(&recv->blocks, me);
        side_write_block(recv, me, recv->memory);
        actor->send.blocks =
            (struct blocks){.base = own.at, .count = 1, .layout = own.layout, .each = own.elements};
        if (among(scene->collective, GATHERS)) actor->send.blocks.count = 0;
    }
}

/* Equal blocks that are runs of bytes are not described, unless the rank likes to. */
static void describe_equal(const struct scene *scene, struct actor *actor) {
    struct call *call = &actor->call;
    if (!among(scene->collective, BIT(alltoall) | BIT(allgather))) return;
    call->send = actor->send.blocks.base, call->recv = actor->recv.blocks.base;
    if (actor->send.blocks.layout->run) call->sends = NULL;
    if (actor->recv.blocks.layout->run) call->recvs = NULL;
    call->trouble = call->sends || call->recvs ? TYPED : 0;
}

static void enter_blocks(struct rank *rank, const struct scene *scene, struct actor *actor) {
    enum collective c = scene->collective;
    int me = rank->team.me;
    collect(scene, me, &actor->send, false);
    collect(scene, me, &actor->recv, true);
    side_place(rank, &actor->send, blocks_of(scene, me, false), kind_of(c, false), false);
    side_place(rank, &actor->recv, blocks_of(scene, me, true), kind_of(c, true), true);
    memset(actor->send.memory, before_send, actor->send.span);
    memset(actor->recv.memory, before_recv, actor->recv.span);
    side_write(&actor->send, actor->send.memory);
    actor->call.sends = &actor->send.blocks, actor->call.recvs = &actor->recv.blocks;
    if (c == COLL_allgatherv) actor->call.longest = longest_of(&actor->recv.blocks);
    if (among(c, NEIGHBORS)) {
        find_neighbours(scene, (uint32_t)me, actor);
        actor->call.neighbours = &actor->neighbours;
    }
    bool root = me == scene->root,
         may = among(c, GATHERS | SCATTERS) ? root : among(c, BIT(alltoall) | ALLGATHERS);
    if (scene->in_place && may) be_in_place(scene, me, actor);
    describe_equal(scene, actor);
}

/* ---- what is combined ---- */

void map_combine(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    const bool *commutes = reduction->state;
    const struct map *f = (const void *)in;
    struct map *g = (void *)inout;
    for (size_t i = 0; i < count; i++)
        g[i] = *commutes ? (struct map){f[i].a + g[i].a, f[i].b + g[i].b}
                         : (struct map){f[i].a * g[i].a, f[i].a * g[i].b + f[i].b};
}

struct map map_of(uint64_t seed, int rank, size_t i) {
    uint64_t random = seed + 1000003 * (uint64_t)rank + 7919 * i;
    uint64_t both = draw(&random);
    return (struct map){(uint32_t)both | 1, (uint32_t)(both >> 32)};
}

static struct map combined(const struct scene *scene, int ranks, size_t i) {
    struct map result = map_of(scene->seed, 0, i);
    for (int r = 1; r < ranks; r++) {
        struct map next = map_of(scene->seed, r, i);
        if (scene->commutes) result = (struct map){result.a + next.a, result.b + next.b};
        else result = (struct map){result.a * next.a, result.a * next.b + result.b};
    }
    return result;
}

/* The elements that the rank gets, and of how many ranks. */
static struct part result_of(const struct scene *scene, int me, int *ranks) {
    enum collective c = scene->collective;
    struct part all = {.count = elements_of(scene)};
    *ranks = c == COLL_scan ? me + 1 : c == COLL_exscan ? me : scene->p;
    if ((c == COLL_reduce && me != scene->root) || *ranks == 0) return (struct part){0};
    if (c == COLL_reduce_scatter_block)
        all.count /= (size_t)scene->p, all.first = all.count * (size_t)me;
    if (c != COLL_reduce_scatter) return all;
    for (int r = 0; r < me; r++) all.first += (size_t)scene->counts[r];
    return (struct part){all.first, (size_t)scene->counts[me]};
}

static void enter_vectors(struct rank *rank, const struct scene *scene, struct actor *actor) {
    struct call *call = &actor->call;
    size_t count = elements_of(scene);
    int me = rank->team.me;
    for (int receives = 0; receives < 2; receives++) {
        struct side *side = receives ? &actor->recv : &actor->send;
        side->memory =
            side_memory(rank, !scene->reached && draw_below(&rank->own, 3) == 0, receives);
        side->span = count * sizeof(struct map) + 2 * guard;
        expect(side->span <= side_room(rank), "the test's memory is too small");
        memset(side->memory, receives ? before_recv : before_send, side->span);
    }
    call->in_place = scene->in_place && (scene->collective != COLL_reduce || me == scene->root);
    struct map *sent = (void *)((call->in_place ? actor->recv.memory : actor->send.memory) + guard);
    for (size_t i = 0; i < count; i++) sent[i] = map_of(scene->seed, me, i);
    actor->reduction = (struct reduction){.combine = map_combine,
                                          .state = &scene->commutes,
                                          .bytes = sizeof(struct map),
                                          .count = count,
                                          .commutes = scene->commutes,
                                          .any_order = scene->any_order,
                                          .counts = scene->counts,
                                          .count_width = sizeof(int)};
    call->reduction = &actor->reduction;
    call->send = (const char *)sent;
    call->recv = actor->recv.memory + guard;
}

/* ---- before and after ---- */

void actor_enter(struct rank *rank, const struct team *team, const struct scene *scene,
                 struct actor *actor) {
    actor->call = (struct call){.shape = scene_shape(scene, team), .root = scene->root};
    actor->send.runs = actor->recv.runs = scene->runs;
    actor->send.reached = actor->recv.reached = scene->reached;
    actor->send.span = actor->recv.span = 0;
    if (among(scene->collective, REDUCTIONS)) enter_vectors(rank, scene, actor);
    else if (scene->collective != COLL_barrier) enter_blocks(rank, scene, actor);
}

static void compare(const struct rank *rank, const struct scene *scene, const struct side *side,
                    const char *image, size_t bytes, const char *what, const char *plan) {
    for (size_t i = 0; i < bytes; i++)
        expect(
            side->memory[i] == image[i],
            "p=%d rank %d: %s by %s, root %d, each %zu, style %d%s: %s: byte %zu of %zu is %02x, not %02x",
            scene->p, rank->team.me, collective_names[scene->collective], plan, scene->root,
            scene->each, scene->style, scene->in_place ? ", in place" : "", what, i, bytes,
            (uint8_t)side->memory[i], (uint8_t)image[i]);
}

static void draw_vectors(const struct scene *scene, int me, char *image, bool receives, bool left) {
    int ranks;
    struct part part = result_of(scene, me, &ranks);
    struct map *at = (void *)(image + guard);
    if (receives)
        for (size_t i = 0; i < part.count && !left; i++)
            at[i] = combined(scene, ranks, part.first + i);
    else
        for (size_t i = 0; i < elements_of(scene); i++) at[i] = map_of(scene->seed, me, i);
}

void actor_leave(const struct rank *rank, const struct scene *scene, struct actor *actor, bool left,
                 const char *plan) {
    int me = rank->team.me, ranks;
    bool vectors = among(scene->collective, REDUCTIONS), in_place = actor->call.in_place;
    for (int receives = 0; receives < 2; receives++) {
        struct side *side = receives ? &actor->recv : &actor->send;
        size_t bytes = side->span;
        /* The other side is this one. */
        bool same = in_place && !(among(scene->collective, SCATTERS) && !receives);
        if (bytes == 0 || (same && (!receives || left))) continue;
        memset(actor->image, receives ? before_recv : before_send, bytes);
        /* In place, what lies behind a result may be anything. */
        size_t result = guard + result_of(scene, me, &ranks).count * sizeof(struct map);
        if (vectors && same)
            memcpy(actor->image + result, side->memory + result, bytes - guard - result);
        if (vectors) draw_vectors(scene, me, actor->image, receives, left);
        else if (!(receives && left)) side_write(side, actor->image);
        compare(rank, scene, side, actor->image, bytes, receives ? "received" : "sent", plan);
    }
    if (actor->send.span) memset(actor->send.memory, 0x44, actor->send.span);
    if (actor->recv.span) memset(actor->recv.memory, 0x33, actor->recv.span);
}
