/* SPDX-License-Identifier: BSD-3-Clause */
/* designs - barriers, written for this comparison: which shape suits which machine, and what a sum
 * of 8 bytes costs more if it travels in the flags' lines. The library's own: src/reach/sync.c.
 * Every design wants 0 in its memory at first; `turn` counts barriers, from 1. */
#include "cores.h"

#include <stdatomic.h>
#include <string.h>

/* A line of its own. */
struct place {
    _Alignas(64) _Atomic uint32_t arrived, released;
    uint64_t sum;
    char rest[48];
};

static uint32_t p;
static struct place *places; /* as many as a design wants */
static uint64_t sums[most_cores];

/* ---- accesses in time ---- */

static uint32_t add(_Atomic uint32_t *word) {
    line_access(word, MODIFY);
    return atomic_fetch_add(word, 1) + 1;
}
static void set(_Atomic uint32_t *word, uint32_t value) {
    line_access(word, STORE);
    atomic_store(word, value);
}
static void await(const _Atomic uint32_t *word, uint32_t value) {
    for (;;) {
        line_access(word, LOAD);
        if ((int32_t)(atomic_load(word) - value) >= 0) return;
        line_await(word);
    }
}

/* ---- one counter, one epoch ---- */

static void central(uint32_t rank, uint32_t turn) {
    (void)rank;
    if (add(&places[0].arrived) == turn * p) set(&places[1].released, turn);
    else await(&places[1].released, turn);
}

/* ---- a tree of counters: the last of a node goes up ----
 * Nodes of a level lie behind those of the level below. widths: children of a node, by level. */
static void climb(uint32_t index, uint32_t count, const uint32_t *widths, uint32_t first,
                  uint32_t turn) {
    uint32_t width = *widths, node = index / width, nodes = (count + width - 1) / width,
             children = node + 1 < nodes ? width : count - node * width;
    struct place *counter = &places[2 * (first + node)], *flag = counter + 1;
    if (count <= 1) return;
    if (add(&counter->arrived) == turn * children) {
        climb(node, nodes, widths[1] ? widths + 1 : widths, first + nodes, turn);
        set(&flag->released, turn);
    } else {
        await(&flag->released, turn);
    }
}

static void tree(uint32_t rank, uint32_t turn) {
    uint32_t widths[] = {machine.group, machine.socket / machine.group, 2, 0};
    if (widths[1] < 2) widths[1] = 2;
    climb(rank, p, widths, 0, turn);
}
static void tree_of_4(uint32_t rank, uint32_t turn) {
    climb(rank, p, (const uint32_t[]){4, 0}, 0, turn);
}
static void tree_of_8(uint32_t rank, uint32_t turn) {
    climb(rank, p, (const uint32_t[]){8, 0}, 0, turn);
}

/* ---- in step k each rank signals rank + 2^k ---- */

enum { most_steps = 8 };
static void dissemination(uint32_t rank, uint32_t turn) {
    for (uint32_t k = 0, reach = 1; reach < p; k++, reach *= 2) {
        set(&places[(rank + reach) % p * most_steps + k].arrived, turn);
        await(&places[rank * most_steps + k].arrived, turn);
    }
}

/* ---- with a sum ---- */

static uint64_t value_of(uint32_t rank, uint32_t turn) { return (uint64_t)turn * 1000 + rank; }

/* Each rank leaves its value in a line of its own; behind one barrier all read all. */
static void beside(uint32_t rank, uint32_t turn) {
    struct place *values = places + 2 * most_cores + (turn & 1) * most_cores;
    line_access(&values[rank].sum, STORE);
    values[rank].sum = value_of(rank, turn);
    central(rank, turn);
    uint64_t sum = 0;
    for (uint32_t r = 0; r < p; r++) {
        lines_copy(&values[r].sum, sizeof sum, false);
        sum += values[r].sum;
    }
    sums[rank] = sum;
}

/* The value lies in the line of the flag that tells of it: ranks signal their parent, who sums up;
 * the result comes down in the same way. Trees of the machine's groups. */
static uint64_t rise(uint32_t rank, uint32_t step, uint32_t below, uint64_t sum, uint32_t turn) {
    uint32_t widths[] = {machine.group, machine.socket / machine.group, most_cores};
    uint32_t reach = below * widths[step], leader = rank / reach * reach;
    struct place *mine = &places[step * most_cores + rank],
                 *down = &places[(3 + step) * most_cores + leader];
    if (rank == leader) {
        for (uint32_t r = rank + below; r < rank + reach && r < p; r += below) {
            struct place *child = &places[step * most_cores + r];
            await(&child->arrived, turn);
            sum += child->sum;
        }
        if (reach < p) sum = rise(rank, step + 1, reach, sum, turn);
        down->sum = sum;
        set(&down->released, turn);
        return sum;
    }
    mine->sum = sum;
    set(&mine->arrived, turn);
    await(&down->released, turn);
    return down->sum;
}
static void inside(uint32_t rank, uint32_t turn) {
    sums[rank] = rise(rank, 0, 1, value_of(rank, turn), turn);
}

const struct design designs[] = {
    {"central", "one counter, one epoch", central, false},
    {"tree", "counters by group, socket and node", tree, false},
    {"tree4", "counters for 4 ranks or nodes each", tree_of_4, false},
    {"tree8", "counters for 8", tree_of_8, false},
    {"dissemination", "in step k each rank signals rank + 2^k", dissemination, false},
    {"sum-beside", "central, and a sum of values in lines of their own", beside, true},
    {"sum-inside", "a tree by group, socket and node; values in the flags' lines", inside, true},
};
const size_t design_count = sizeof designs / sizeof *designs;

/* ---- timing ---- */

enum { turns = 12, first_timed = 2 };
static const struct design *timed;
static struct call_result result; /* its sums so far */
static uint64_t moved[sources];

static void body(uint32_t rank) {
    for (uint32_t turn = 1; turn <= turns; turn++) {
        double start = ranks_meet() + entry_nanoseconds;
        rank_dawdle(entry_nanoseconds);
        if (turn > first_timed) lines_count(moved, false);
        timed->run(rank, turn);
        if (turn > first_timed) lines_count(moved, true);
        double end = ranks_meet();
        if (rank == 0 && turn > first_timed) result.nanoseconds += end - start;
        uint64_t wanted = (uint64_t)turn * 1000 * p + (uint64_t)p * (p - 1) / 2;
        if (timed->carries && sums[rank] != wanted) result.right = false;
    }
}

struct call_result design_time(const struct design *design, uint32_t ranks) {
    lines_reset();
    p = ranks;
    timed = design;
    result = (struct call_result){.right = true};
    memset(moved, 0, sizeof moved);
    places = shared_take(most_cores * (most_steps + 2) * sizeof *places);
    ranks_run(p, body);
    result.nanoseconds /= turns - first_timed;
    result.round = result.nanoseconds;
    for (int d = 0; d < sources; d++)
        result.moved[d] = (double)moved[d] / (turns - first_timed);
    return result;
}
