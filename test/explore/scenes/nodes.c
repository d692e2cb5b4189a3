/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes - what ranks of a node share in collectives over several nodes (src/coll/nodes): the halves
 * of its space, the tables of sizes, the leader's progress. The threads are node 0. Node 1 is one
 * rank more, which this file plays: the inner routine reads what leaves the node and writes what
 * comes. Numbers: of calls; of words in every second call's blocks, 0: 1 word as in the others; of
 * the call in which messages fail, 0: none; and by scene: 1: node 1's blocks arrive first, the
 * root, 1: the leader combines alone; ranks at a gate, 0: all. */
#include "../crew.h"

#include "coll/nodes/universal.h"

#include <string.h>

enum {
    most_ranks = most_threads + 1,
    most_words = 2,
    elements = 16,
    space_bytes = 8192,
    table_bytes = 1024,
    most_kept = 16,
    kept_bytes = 4096
};
extern const struct algorithm_code algorithm_overlap, algorithm_leader, algorithm_distribute,
    algorithm_aggregate, algorithm_universal;

static struct team jobs[most_threads], lanes[most_threads][most_threads];
static struct team *lane_list[most_threads][most_threads];
static struct places places;
static int node_of[most_ranks], local_of[most_ranks], ranks[most_ranks], first[3];
static struct figures fullest;
static struct keeping {
    _Alignas(16) char memory[most_kept][kept_bytes];
    const void *whose[most_kept];
    unsigned which[most_kept];
    int count;
} kept[most_threads];
static int call_now[most_threads]; /* from 1 */
static bool cut_by_column;

/* Of the one option that is asked for, FAN. */
uint64_t option_number(enum option option) {
    (void)option;
    return (uint64_t)scene_number(4);
}

static int far_rank(void) { return scene_threads(); }
static int words_now(void) {
    return call_now[thread_now()] % 2 == 0 && scene_number(1) ? scene_number(1) : 1;
}
static uint64_t said(int source, int dest) {
    return (uint64_t)(1000 * call_now[thread_now()] + 10 * source + dest);
}
/* A call in which something fails. */
static bool fails_now(void) { return call_now[thread_now()] == scene_number(2); }

static void begin(void) {
    int p = scene_threads();
    crew_begin(64);
    char *space = share(space_bytes), *tables = share(table_bytes);
    name_memory(space, space_bytes, "space");
    name_memory(tables, table_bytes, "tables");
    fullest = (struct figures){.p = p, .nodes = 1, .most = p, .space_bytes = space_bytes};
    /* How dear a barrier is decides who combines. */
    fullest.usual_sync_seconds = scene_number(3);
    for (int r = 0; r < p && scene_number(4); r++) sync_shape(&teams[r], (uint32_t)scene_number(4));
    for (int r = 0; r <= p; r++) {
        ranks[r] = r;
        node_of[r] = r == p;
        local_of[r] = r == p ? 0 : r;
    }
    first[0] = 0, first[1] = p, first[2] = p + 1;
    places = (struct places){2, p, node_of, local_of, first, ranks, true};
    for (int r = 0; r < p; r++) {
        teams[r].space = space;
        teams[r].figures = fullest;
        teams[r].tables = (struct tables){.at = tables, .bytes = table_bytes};
        kept[r].count = 0;
        jobs[r] = (struct team){.p = p + 1, .me = r, .places = &places, .node = &teams[r]};
        jobs[r].figures = (struct figures){
            .p = p + 1, .nodes = 2, .most = p, .fewest = 1, .in_order = true, .node = &fullest};
        jobs[r].lanes = lane_list[r];
        for (int l = 0; l < p; l++) {
            lanes[r][l] = (struct team){.p = 2, .me = l == r ? 0 : -1};
            lane_list[r][l] = &lanes[r][l];
        }
    }
}

void copy_plain(void *to, const void *from, size_t bytes);
const struct kernel kernels[KERNELS] = {[KERNEL_plain] = {.move = copy_plain}};

/* ---- what messages and memory of one's own are otherwise ---- */

bool messages_agree(struct team *team, bool fine) {
    (void)team;
    return fine;
}
void *team_keeps(struct team *team, const void *whose, unsigned which, size_t bytes, bool *fresh) {
    struct keeping *mine = &kept[team->me];
    int i = 0;
    while (i < mine->count && (mine->whose[i] != whose || mine->which[i] != which)) i++;
    *fresh = i == mine->count;
    if (*fresh) {
        expect(bytes <= kept_bytes && i < most_kept, "this scene has no room");
        memset(mine->memory[i], 0, kept_bytes);
        mine->whose[i] = whose, mine->which[i] = which, mine->count++;
    }
    return mine->memory[i];
}
void *team_keeps_agreed(struct team *team, const void *whose, unsigned which, size_t bytes,
                        bool fine) {
    bool fresh;
    return fine ? team_keeps(team, whose, which, bytes, &fresh) : NULL;
}
struct team *team_lane(struct team *team, int l) { return team->lanes[l]; }

/* ---- the inner routine ---- */

static void goes_out(struct run run) {
    uint64_t before = 0, word;
    for (size_t at = 0; at < run.bytes; at += sizeof word, before = word) {
        memcpy(&word, run.at + at, sizeof word);
        expect(word / 1000 == (uint64_t)call_now[thread_now()] && word >= before,
               "wrong data leave the node");
    }
}
/* Blocks for local ranks from `dest` on. */
static void comes_in(struct run run, int dest) {
    size_t words = (size_t)words_now();
    for (size_t i = 0; i < run.bytes / 8; i++) {
        uint64_t word = said(far_rank(), dest + (int)(i / words));
        memcpy(run.at + 8 * i, &word, sizeof word);
    }
}

static void combine(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    (void)reduction;
    const uint64_t *from = (const uint64_t *)(const void *)in;
    uint64_t *to = (uint64_t *)(void *)inout;
    for (size_t i = 0; i < count; i++) to[i] = 10 * from[i] + to[i]; /* does not commute */
}

static enum outcome wire_combines(const struct call *call) {
    uint64_t theirs[elements];
    for (int i = 0; i < elements; i++) theirs[i] = said(far_rank(), 0);
    combine(call->reduction, call->send, (char *)theirs, elements);
    memcpy(call->recv, theirs, sizeof theirs);
    return DONE;
}

static enum outcome wire_run(struct team *lane, const struct call *call,
                             const struct arguments *arguments) {
    (void)arguments;
    const struct blocks *sends = call->sends, *recvs = call->recvs;
    bool far_first = call->arrived && scene_number(3);
    int dest = cut_by_column ? (int)(lane - lanes[thread_now()]) : 0;
    if (fails_now()) return FAILED;
    if (call->reduction) return wire_combines(call);
    for (int b = 0; b < sends->count; b++)
        if (sends->count == 1 || b == 1) goes_out(run_of(sends, b));
    if (call->shape.collective == COLL_allgatherv && !call->in_place) {
        struct run own = run_of(sends, 0);
        memcpy(run_of(recvs, 0).at, own.at, own.bytes);
    }
    if (call->arrived && !far_first) call->arrived(call, 0);
    for (int b = 0; b < recvs->count; b++)
        if (recvs->count == 1 || b == 1) comes_in(run_of(recvs, b), dest);
    if (call->arrived) call->arrived(call, 1);
    if (far_first) call->arrived(call, 0);
    return DONE;
}
static const struct algorithm_code wire_code = {.where = BY_MESSAGES, .run = wire_run};
static const struct algorithm wire = {.name = "wire", .code = &wire_code};
static const struct routine inner = {.algorithm = &wire};

/* ---- the calls ---- */

static struct blocks equal_blocks(uint64_t *words, int count) {
    return (struct blocks){.base = (char *)words,
                           .count = count,
                           .layout = &layout_bytes,
                           .each = 8 * (size_t)words_now()};
}
static void fill(uint64_t *block, uint64_t value) {
    for (int i = 0; i < words_now(); i++) block[i] = value;
}
static void holds(const uint64_t *block, uint64_t value) {
    for (int i = 0; i < words_now(); i++) expect(block[i] == value, "a wrong block");
}

/* True: data came. */
static bool makes(const struct algorithm_code *code, struct call call, unsigned number) {
    struct arguments arguments = {.inner = &inner, .number = number};
    call.shape.bytes = 8 * (size_t)words_now();
    enum outcome outcome = code->run(&jobs[thread_now()], &call, &arguments);
    expect(outcome == (fails_now() ? FAILED : DONE), "ranks do not fail together");
    return outcome == DONE;
}

static void exchange(const struct algorithm_code *code, enum collective collective) {
    uint64_t send[most_ranks * most_words], recv[most_ranks * most_words] = {0};
    int me = thread_now(), p = far_rank() + 1, words = words_now();
    bool gives = among(collective, ALLGATHERS);
    for (int j = 0; j < p; j++) fill(send + j * words, said(me, gives ? 0 : j));
    struct blocks sends = equal_blocks(send, gives ? 1 : p), recvs = equal_blocks(recv, p);
    struct call call = {.shape.collective = collective, .sends = &sends, .recvs = &recvs};
    cut_by_column = code == &algorithm_aggregate;
    if (!makes(code, call, 1)) return;
    for (int i = 0; i < p; i++) holds(recv + i * words, said(i, gives ? 0 : me));
}

static void overlap_call(void) { exchange(&algorithm_overlap, COLL_allgather); }
static void spread_call(void) { exchange(&algorithm_leader, COLL_allgather); }
static void leader_call(void) { exchange(&algorithm_leader, COLL_alltoall); }
static void rows_call(void) { exchange(&algorithm_distribute, COLL_alltoall); }
static void columns_call(void) { exchange(&algorithm_aggregate, COLL_alltoall); }
static void sized_call(void) { exchange(&algorithm_leader, COLL_alltoallv); }

static void rooted(enum collective collective, int root) {
    uint64_t send[most_ranks * most_words], recv[most_ranks * most_words] = {0};
    int me = thread_now(), p = far_rank() + 1, words = words_now();
    bool gathers = among(collective, GATHERS), scatters = among(collective, SCATTERS);
    for (int j = 0; j < p; j++) fill(send + j * words, said(me, scatters ? j : 0));
    struct blocks none = {.layout = &layout_bytes}, sends = none, recvs = none;
    if (gathers || me == root) sends = equal_blocks(send, scatters ? p : 1);
    if (gathers ? me == root : scatters || me != root) recvs = equal_blocks(recv, gathers ? p : 1);
    struct call call = {.shape.collective = collective, .sends = &sends, .recvs = &recvs};
    call.shape.unsized = among(collective, BIT(gatherv) | BIT(scatterv));
    call.root = root;
    if (!makes(&algorithm_universal, call, 0)) return;
    for (int i = 0; i < recvs.count; i++)
        holds(recv + i * words, gathers ? said(i, 0) : said(root, scatters ? me : 0));
}

static void bcast_call(void) { rooted(COLL_bcast, scene_number(3)); }
static void gather_call(void) { rooted(COLL_gather, scene_number(3)); }
static void gatherv_call(void) { rooted(COLL_gatherv, scene_number(3)); }
static void scatterv_call(void) { rooted(COLL_scatterv, scene_number(3)); }

static void reduces(enum collective collective) {
    uint64_t send[elements], recv[elements] = {0}, all = 0;
    int me = thread_now();
    for (int i = 0; i < elements; i++) send[i] = said(me, 0);
    for (int r = 0; r <= (collective == COLL_scan ? me : far_rank()); r++)
        all = 10 * all + said(r, 0);
    struct reduction reduction = {.combine = combine, .bytes = 8, .count = elements};
    struct call call = {.shape.collective = collective,
                        .send = (const char *)send,
                        .recv = (char *)recv,
                        .reduction = &reduction};
    if (!makes(&algorithm_universal, call, 0)) return;
    for (int i = 0; i < elements; i++) expect(recv[i] == all, "a wrong result");
}

static void allreduce_call(void) { reduces(COLL_allreduce); }
static void scan_call(void) { reduces(COLL_scan); }

/* One call after another in the same space; without overlap, as the explorer takes no word for
 * atomic in one call and for data in another. */
static void mixed_call(void) {
    static void (*const plays[])(void) = {sized_call, allreduce_call, spread_call};
    plays[call_now[thread_now()] % 3]();
}

#define SCENE(name)                                                                                \
    static void name(int me) {                                                                     \
        for (int k = 1; k <= scene_number(0); k++) {                                               \
            call_now[me] = k;                                                                      \
            crew_enter();                                                                          \
            name##_call();                                                                         \
        }                                                                                          \
    }
#define SCENES(each)                                                                               \
    each(overlap) each(spread) each(leader) each(rows) each(columns) each(sized) each(bcast)       \
        each(gather) each(gatherv) each(scatterv) each(allreduce) each(scan) each(mixed)
SCENES(SCENE)
#define ROW(name) {#name, begin, name, NULL},
const struct scene scenes[] = {SCENES(ROW)};
const int scene_count = sizeof scenes / sizeof scenes[0];
