/* SPDX-License-Identifier: BSD-3-Clause */
/* calls - the library's calls on the simulated node: teams as on a real node whose ranks are bound,
 * every rank with a heap that its peers reach, all in one address space. Blocks are runs of bytes;
 * what is combined are 8-byte integers. Results are verified. */
#include "cores.h"

#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

enum { first_timed = 2, slot_room = 1 << 20 };

enum between between;

static struct {
    enum collective collective;
    uint32_t p;
    size_t bytes;
    struct plan plan;
    char *send[most_cores], *recv[most_cores];
    struct team teams[most_cores];
    int turn, turns;
    bool wrong;
    double nanoseconds, round;
    uint64_t moved[sources];
} now;

const char *const call_names[call_kinds] = {"barrier", "bcast",     "gather",    "scatter", "reduce",
                                            "scan",    "allreduce", "allgather", "alltoall"};

static int find(const char *name) {
    for (int i = 0; i < call_kinds; i++)
        if (strcmp(call_names[i], name) == 0)
            for (int c = 0; c < COLLECTIVES; c++)
                if (strcmp(collective_names[c], name) == 0) return c;
    return -1;
}

static struct shape shape_of(int collective, size_t bytes) {
    struct shape shape = {.collective = (enum collective)collective, .bytes = bytes};
    shape.unsized = among(shape.collective, UNSIZED);
    if (collective == COLL_barrier) shape.bytes = 0;
    return shape;
}

/* ---- teams ---- */

/* Cores of a memory domain, as the library takes them (src/reach/domains.c). Ranks fill one group
 * after the other, so there are two ranks or more to a group of several. */
static uint32_t domain_cores(void) { return machine.group > 1 ? machine.group : machine.socket; }

static struct figures figures_here(struct figures figures) {
    figures.processors = (int)machine.cores;
    figures.sync_seconds = figures.usual_sync_seconds = sync_usual(figures.p, (int)machine.cores);
    figures.l2_bytes = machine.l2.bytes ? machine.l2.bytes : (size_t)1 << 20;
    figures.l3_bytes = machine.l3.bytes ? machine.l3.bytes : (size_t)1 << 25;
    figures.l3_bytes *= machine.cores / machine.group;
    figures.domains = ((uint32_t)figures.p - 1) / domain_cores() + 1;
    return figures;
}

static size_t slot_of(uint32_t p) {
    size_t slot = slot_room / 2 / 64 * 64;
    return slot < 64 * (size_t)p ? 64 * (size_t)p : slot;
}

static void make_team(uint32_t me, void *memory, char *region, size_t room) {
    struct team *team = &now.teams[me];
    uint32_t p = now.p;
    *team = (struct team){.p = (int)p, .me = (int)me};
    team_attach(team, memory, slot_of(p), 0);
    team->patience.crowded = false;
    team->region = region;
    team->region_bytes = room;
    team->names = calloc(p, sizeof *team->names);
    team->domain_of = malloc(p * sizeof *team->domain_of);
    for (int writable = 0; writable < 2; writable++)
        team->peers[writable] = malloc(p * sizeof *team->peers[writable]);
    if (!team->names || !team->domain_of || !team->peers[0] || !team->peers[1]) abort();
    for (uint32_t r = 0; r < p; r++) {
        team->names[r].bytes = room;
        team->domain_of[r] = r / domain_cores();
        team->peers[0][r] = team->peers[1][r] =
            (uintptr_t)(region + ((long)r - (long)me) * (long)room);
    }
    team_shares(team);
    team->figures = figures_here(team->figures);
    sync_suit(team);
}

static void free_team(struct team *team) {
    for (uint32_t r = 0; r < now.p; r++) team->names[r].bytes = 0; /* nothing is mapped */
    team_release(team);
}

/* ---- one call ---- */

static bool is_root_sided(bool sends) {
    return sends ? now.collective == COLL_scatter : now.collective == COLL_gather;
}

static size_t side_bytes(bool sends) {
    size_t p = now.p;
    if (now.collective == COLL_barrier) return 0;
    if (now.collective == COLL_alltoall || is_root_sided(sends)) return p * now.bytes;
    if (now.collective == COLL_allgather && !sends) return p * now.bytes;
    return now.bytes;
}

/* The number at byte k of what rank i sends to rank j. */
static uint64_t number_of(uint32_t i, uint32_t j, size_t k) {
    return k + ((uint64_t)i << 40) + ((uint64_t)j << 20) + (uint64_t)now.turn;
}

static bool one_for_all(void) { return !among(now.collective, BIT(alltoall) | BIT(scatter)); }

static void put(char *at, size_t bytes, uint64_t value) {
    memcpy(at, &value, bytes < sizeof value ? bytes : sizeof value);
}

static void fill(uint32_t me) {
    if (between == COLD) {
        if (me == 0) lines_flush();
        ranks_meet();
        lines_copy(now.send[me], side_bytes(true), false);
    }
    if (between != NOTHING) lines_copy(now.recv[me], side_bytes(false), false);
    if (between == USE) lines_copy(now.send[me], side_bytes(true), true);
    size_t blocks = now.bytes ? side_bytes(true) / now.bytes : 0;
    memset(now.recv[me], 0x55, side_bytes(false));
    for (size_t b = 0; b < blocks; b++)
        for (size_t k = 0; k < now.bytes; k += 8)
            put(now.send[me] + b * now.bytes + k, now.bytes - k,
                number_of(me, one_for_all() ? 0 : (uint32_t)b, k));
}

static uint64_t wanted(uint32_t me, size_t block, size_t k) {
    uint64_t sum = 0;
    switch (now.collective) {
    case COLL_bcast: return number_of(0, 0, k);
    case COLL_scatter: return number_of(0, me, k);
    case COLL_alltoall: return number_of((uint32_t)block, me, k);
    case COLL_gather:
    case COLL_allgather: return number_of((uint32_t)block, 0, k);
    default:
        for (uint32_t r = 0; r < now.p && (r <= me || now.collective != COLL_scan); r++)
            sum += number_of(r, 0, k);
        return sum;
    }
}

static bool is_right(uint32_t me) {
    bool receives = me == 0 || !among(now.collective, BIT(gather) | BIT(reduce));
    size_t blocks = receives && now.bytes ? side_bytes(false) / now.bytes : 0;
    for (size_t b = 0; b < blocks; b++)
        for (size_t k = 0; k < now.bytes; k += 8) {
            size_t bytes = now.bytes - k < 8 ? now.bytes - k : 8;
            uint64_t value = wanted(me, b, k);
            if (memcmp(now.recv[me] + b * now.bytes + k, &value, bytes) != 0) return false;
        }
    return true;
}

static void add(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    (void)reduction;
    lines_copy(in, 8 * count, false);
    lines_copy(inout, 8 * count, true);
    for (size_t i = 0; i < count; i++) {
        uint64_t a, b;
        memcpy(&a, in + 8 * i, 8), memcpy(&b, inout + 8 * i, 8);
        b += a;
        memcpy(inout + 8 * i, &b, 8);
    }
}

static struct blocks blocks_from(char *base, size_t bytes, bool one) {
    return (struct blocks){.base = base,
                           .count = one ? 1 : (int)(bytes / now.bytes),
                           .layout = &layout_bytes,
                           .each = now.bytes};
}

static void run(uint32_t me) {
    static const struct reduction sum = {.combine = add, .bytes = 8, .commutes = true};
    struct team *team = &now.teams[me];
    enum collective c = now.collective;
    struct reduction reduction = sum;
    reduction.count = now.bytes / 8;
    struct call call = {.shape = shape_of((int)c, now.bytes),
                        .send = now.send[me],
                        .recv = now.recv[me],
                        .reduction = &reduction};
    struct blocks sends = {0}, recvs = {0};
    if (among(c, ROOTED)) {
        bool root = me == 0, one = among(c, BIT(bcast));
        if (root || among(c, BIT(gather))) sends = blocks_from(now.send[me], side_bytes(true), one);
        if (!root || !one)
            if (root || !among(c, BIT(gather)))
                recvs = blocks_from(now.recv[me], side_bytes(false), one);
        if (one && root) memcpy(now.recv[0], now.send[0], now.bytes);
        call.sends = &sends, call.recvs = &recvs;
    }
    const struct algorithm_code *code = now.plan.algorithm->code;
    enum outcome outcome = code->run(team, &call, &now.plan.arguments);
    if (outcome != DONE) now.wrong = true;
}

static void body(uint32_t me) {
    const struct algorithm_code *code = now.plan.algorithm->code;
    if (code->prepare && code->prepare(&now.teams[me], &now.plan.arguments) != 0) now.wrong = true;
    for (int turn = 0; turn < now.turns; turn++) {
        now.turn = turn;
        double before = ranks_meet();
        fill(me);
        double start = ranks_meet() + entry_nanoseconds;
        rank_dawdle(entry_nanoseconds);
        if (turn >= first_timed) lines_count(now.moved, false);
        if (!now.wrong) run(me);
        if (turn >= first_timed) lines_count(now.moved, true);
        double end = ranks_meet();
        if (me == 0 && turn >= first_timed) {
            now.nanoseconds += end - start;
            now.round += end - before - entry_nanoseconds;
        }
        if (!now.wrong && !is_right(me)) now.wrong = true;
        ranks_meet();
    }
}

bool call_known(const char *collective, const char *plan, char why[192]) {
    struct plan parsed;
    int c = find(collective);
    snprintf(why, 192, "%.64s is no collective that is simulated", collective);
    if (c < 0 || !plan) return c >= 0;
    if (plan_parse(plan, &parsed, why, 192) != 0) return false;
    snprintf(why, 192, "%.64s does not run %s", parsed.text, collective);
    return among((enum collective)c, parsed.algorithm->collectives);
}

bool call_time(const char *collective, const char *plan, uint32_t p, size_t bytes,
               struct call_result *result, char why[192]) {
    static struct plan parsed;
    int c = find(collective);
    if (c < 0 || plan_parse(plan, &parsed, why, 192) != 0) return false;
    lines_reset();
    now.collective = (enum collective)c, now.p = p, now.plan = parsed;
    now.bytes = c == COLL_barrier ? 0 : bytes;
    now.wrong = false, now.nanoseconds = now.round = 0;
    memset(now.moved, 0, sizeof now.moved);
    now.turns = p * (side_bytes(false) + side_bytes(true)) > (size_t)32 << 20 ? 4 : 8;
    size_t send = (side_bytes(true) + 4095) / 4096 * 4096,
           room = send + (side_bytes(false) + 4095) / 4096 * 4096 + 4096;
    void *memory = shared_take(control_size((int)p, slot_of(p), 0));
    char *regions = shared_take(p * room);
    for (uint32_t r = 0; r < p; r++) {
        now.send[r] = regions + r * room;
        now.recv[r] = now.send[r] + send;
        make_team(r, memory, now.send[r], room);
    }
    struct shape shape = shape_of(c, bytes);
    const struct figures *figures = &now.teams[0].figures;
    plan_settle(figures, &now.plan);
    bool fits = among(shape.collective, now.plan.algorithm->collectives) &&
                now.plan.algorithm->code->run && now.plan.algorithm->code->where == ON_NODE &&
                can_run(now.plan.algorithm, &now.plan.arguments, figures, &shape);
    snprintf(why, 192, "%s does not run such a call on one node", now.plan.text);
    if (fits) ranks_run(p, body);
    for (uint32_t r = 0; r < p; r++) free_team(&now.teams[r]);
    result->nanoseconds = now.nanoseconds / (now.turns - first_timed);
    result->round = now.round / (now.turns - first_timed);
    for (int d = 0; d < sources; d++)
        result->moved[d] = (double)now.moved[d] / (now.turns - first_timed);
    result->right = !now.wrong;
    return fits;
}

size_t plans_of(const char *collective, uint32_t p, size_t bytes, char plans[][64], size_t most) {
    static struct candidate list[most_candidates];
    int c = find(collective);
    if (c < 0) return 0;
    struct figures figures = figures_here(figures_of_node((int)p));
    figures.shares = true;
    figures.slot = slot_of(p);
    figures.box_room = 2 * figures.slot / BOXES;
    struct shape shape = shape_of(c, bytes);
    int count = plan_candidates(&figures, &shape, true, list);
    size_t filled = 0;
    for (int i = 0; i < count && filled < most; i++) {
        if (strcmp(list[i].text, "native") == 0 || list[i].path || list[i].variant == COPIED)
            continue;
        snprintf(plans[filled++], 64, "%.63s", list[i].text);
    }
    return filled;
}
