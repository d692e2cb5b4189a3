/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

/* ---- the call, the same for all ranks ---- */

struct scene scene;

struct map {
    uint32_t a, b;
};
static struct map after(struct map first, struct map then) {
    return (struct map){then.a * first.a, then.a * first.b + then.b};
}
static struct map map_of(uint32_t key, int rank, size_t i) {
    return (struct map){(key ^ (uint32_t)rank * 77) | 1, key + (uint32_t)rank * 3 + (uint32_t)i};
}
static void combine(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    (void)reduction;
    for (size_t i = 0; i < count; i++) {
        struct map *right = (struct map *)(void *)inout + i;
        *right = after(((const struct map *)(const void *)in)[i], *right);
    }
}

bool is_equal(enum collective c) {
    return among(c, BIT(alltoall) | BIT(allgather) | BIT(bcast) | BIT(gather) | BIT(scatter));
}
static bool personal(enum collective c) { return among(c, ALLTOALLS | SCATTERS); }

/* Words of the block that a rank has for another. */
static size_t words_of(int source, int dest) {
    if (!personal(scene.collective)) dest = 0;
    return is_equal(scene.collective) ? scene.words : (size_t)(source * 5 + dest * 3) % 4;
}
static uint32_t label_of(uint32_t key, int source, int dest) {
    if (!personal(scene.collective)) dest = 0;
    return key * (uint32_t)(scene.p * scene.p) + (uint32_t)(source * scene.p + dest);
}

/* ---- one side of a rank ---- */

struct side {
    int count, other[most_fibers]; /* blocks, and who is at their other end */
    int64_t counts[most_fibers], displs[most_fibers];
    uint32_t *memory;
    size_t bytes;
    struct blocks blocks;
};

static void list_blocks(struct side *side, int me, bool sends) {
    enum collective c = scene.collective;
    bool root = me == scene.root, many = among(c, ALLTOALLS) || (among(c, ALLGATHERS) && !sends);
    side->count = many ? scene.p : 1;
    if (c == COLL_bcast) side->count = root == sends;
    if (among(c, GATHERS)) side->count = sends ? 1 : root ? scene.p : 0;
    if (among(c, SCATTERS)) side->count = sends ? (root ? scene.p : 0) : 1;
    for (int b = 0; b < side->count; b++) side->other[b] = side->count == scene.p ? b : scene.root;
}

static void lay(struct side *side, int me, bool sends) {
    list_blocks(side, me, sends);
    side->bytes = 0;
    for (int b = 0; b < side->count; b++) {
        int other = side->other[b];
        side->displs[b] = (int64_t)side->bytes;
        side->counts[b] = 4 * (int64_t)words_of(sends ? me : other, sends ? other : me);
        side->bytes += (size_t)side->counts[b];
    }
    side->memory = malloc(side->bytes + 4);
    memset(side->memory, 0xff, side->bytes + 4);
    side->blocks = byte_runs((char *)side->memory, side->count, side->counts, side->displs);
}

static void fill(const struct side *side, int me, uint32_t key) {
    for (int b = 0; b < side->count; b++)
        for (int64_t i = 0; i < side->counts[b] / 4; i++)
            side->memory[side->displs[b] / 4 + i] = label_of(key, me, side->other[b]);
}

static void compare(const struct side *side, int me, uint32_t key) {
    for (int b = 0; b < side->count; b++)
        for (int64_t i = 0; i < side->counts[b] / 4; i++) {
            uint32_t found = side->memory[side->displs[b] / 4 + i];
            int source = side->other[b];
            uint32_t wanted = label_of(key, source, me);
            expect(found == wanted, "%s, p=%d: rank %d: the block of rank %d is %u instead of %u",
                   scene.plan->text, scene.p, me, source, found, wanted);
        }
}

/* ---- one rank ---- */

static void check_memory(const struct team *team, size_t bytes) {
    size_t used = team->scratch_wish + (team->node ? team->node->scratch_wish : 0);
    /* Tables, and lines that are not full. */
    size_t tables = 256 * (size_t)team->p + 4096;
    expect(used <= 3 * bytes + tables, "%s, p=%d: rank %d takes %zu bytes of scratch for %zu",
           scene.plan->text, scene.p, team->me, used, bytes);
}

static void run(struct team *team, struct call *call) {
    const struct algorithm_code *code = scene.plan->algorithm->code;
    team->scratch_wish = 0;
    enum outcome outcome = code->run(team, call, &scene.plan->arguments);
    expect(outcome == DONE, "%s, p=%d, %s: rank %d: outcome %d", scene.plan->text, scene.p,
           collective_names[scene.collective], team->me, (int)outcome);
}

static void move_blocks(struct team *team, uint32_t key, struct shape shape) {
    struct side *send = malloc(sizeof *send), *recv = malloc(sizeof *recv);
    lay(send, team->me, true);
    lay(recv, team->me, false);
    fill(send, team->me, key);
    bool plain = among(scene.collective, POSTED);
    struct call call = {.shape = shape,
                        .root = scene.root,
                        .send = (char *)send->memory,
                        .recv = (char *)recv->memory,
                        .sends = plain ? NULL : &send->blocks,
                        .recvs = plain ? NULL : &recv->blocks};
    run(team, &call);
    compare(recv, team->me, key);
    check_memory(team, send->bytes + recv->bytes);
    free(send->memory), free(recv->memory), free(send), free(recv);
}

/* Elements of a whole vector, and those that a rank gets. */
static size_t parts(int first, int end) {
    size_t all = 0;
    for (int r = first; r < end; r++) all += (size_t)scene.parts[r];
    return all;
}

static void combine_vectors(struct team *team, uint32_t key, struct shape shape) {
    enum collective c = scene.collective;
    bool scatters = among(c, BIT(reduce_scatter) | BIT(reduce_scatter_block));
    int me = team->me, p = scene.p;
    size_t count = scatters ? parts(0, p) : scene.words, first = scatters ? parts(0, me) : 0;
    size_t mine = scatters ? (size_t)scene.parts[me] : count;
    if ((c == COLL_reduce && me != scene.root) || (c == COLL_exscan && me == 0)) mine = 0;
    struct map *send = calloc(count + 1, sizeof *send), *recv = calloc(count + 1, sizeof *recv);
    for (size_t i = 0; i < count; i++) send[i] = map_of(key, me, i);
    struct reduction reduction = {.combine = combine,
                                  .bytes = sizeof *send,
                                  .count = count,
                                  .counts = c == COLL_reduce_scatter ? scene.parts : NULL,
                                  .count_width = 4};
    struct call call = {.shape = shape,
                        .root = scene.root,
                        .send = (char *)send,
                        .recv = (char *)recv,
                        .reduction = &reduction};
    run(team, &call);
    int from = 0, end = p;
    if (c == COLL_scan) end = me + 1;
    if (c == COLL_exscan) end = me;
    for (size_t i = 0; i < mine; i++) {
        struct map all = map_of(key, from, first + i);
        for (int r = from + 1; r < end; r++) all = after(all, map_of(key, r, first + i));
        expect(memcmp(&all, &recv[i], sizeof all) == 0, "%s, p=%d, %s: rank %d: element %zu",
               scene.plan->text, p, collective_names[c], me, i);
    }
    check_memory(team, (count + mine) * sizeof *send);
    free(send), free(recv);
}

static struct shape shape_of_scene(const struct team *team) {
    enum collective c = scene.collective;
    struct shape shape = {.collective = c, .unsized = among(c, UNSIZED)};
    if (is_equal(c)) shape.bytes = 4 * scene.words;
    if (c == COLL_allgatherv) shape.bytes = 8;
    if (among(c, REDUCTIONS)) {
        bool scatters = among(c, BIT(reduce_scatter) | BIT(reduce_scatter_block));
        shape.bytes = sizeof(struct map) * scene.words;
        if (scatters) shape.bytes = sizeof(struct map) * (parts(0, scene.p) / (size_t)scene.p + 1);
        shape.ordered = team->places && !team->places->in_order;
    }
    return shape;
}

static bool fits(const struct team *team) {
    const struct plan *plan = scene.plan;
    struct shape shape = shape_of_scene(team);
    return can_run(plan->algorithm, &plan->arguments, &team->figures, &shape);
}

void scene_body(struct team *team) {
    const struct plan *plan = scene.plan;
    struct shape shape = shape_of_scene(team);
    if (!fits(team)) return;
    scene.ran = true;
    expect(!plan->algorithm->code->prepare ||
               plan->algorithm->code->prepare(team, &plan->arguments) == 0,
           "%s", plan->text);
    for (int call = 0; call < scene.calls; call++) {
        uint32_t key = scene.key + (uint32_t)call;
        if (among(scene.collective, REDUCTIONS)) {
            combine_vectors(team, key, shape);
        } else if (scene.collective == COLL_barrier) {
            struct call barrier = {.shape = shape};
            run(team, &barrier);
        } else {
            move_blocks(team, key, shape);
        }
    }
}

/* ---- which blocks a message carries ---- */

static uint32_t *seen; /* [receiver or its node][source][dest] the call in which it came */

void scene_look(const struct handed *handed) {
    uint32_t square = (uint32_t)(scene.p * scene.p);
    int to = scene.node_of ? scene.node_of[handed->to] : handed->to;
    if (scene.node_of && to == scene.node_of[handed->from]) return;
    for (size_t i = 0; i < handed->bytes / 4; i++) {
        uint32_t label;
        memcpy(&label, handed->data + 4 * i, 4);
        if (label / square != scene.key) continue; /* a size, or what the ranks agree on */
        uint32_t *last = &seen[(uint32_t)to * square + label % square];
        expect(*last != scene.key, "%s, p=%d, %s: the block %u gets to %s %d twice",
               scene.plan->text, scene.p, collective_names[scene.collective], label % square,
               scene.node_of ? "node" : "rank", to);
        *last = scene.key;
    }
}

void scene_begin(int p) {
    size_t labels = (size_t)p * (size_t)p * (size_t)p;
    if (!seen) seen = malloc((size_t)most_fibers * most_fibers * most_fibers * sizeof *seen);
    expect(seen != NULL, "malloc");
    memset(seen, 0, labels * sizeof *seen);
    scene = (struct scene){.p = p, .key = 1000}; /* labels are larger than any size */
}
