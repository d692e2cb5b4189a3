/* SPDX-License-Identifier: BSD-3-Clause */
/* gathers - shared by the allgathers that send messages (gathers.h), and the allgathers of bruck
 * and mnco. */
#include "coll/flat/gathers.h"

#include <string.h>

/* ---- the area ---- */

static size_t start_of(const struct gathering *g, int block) {
    return g->starts ? g->starts[block] : (size_t)block * g->call->shape.bytes;
}

/* Do the blocks lie back to back, in the order of the ranks? */
static bool lie_close(const struct blocks *recvs) {
    char *at = run_of(recvs, 0).at;
    for (int i = 0; i < recvs->count; i++) {
        struct run run = run_of(recvs, i);
        if (run.bytes > 0 && run.at != at) return false;
        at += run.bytes;
    }
    return true;
}

static char *gathers_place_of(const struct gathering *g, int block) {
    return g->area + start_of(g, block);
}

/* False on all ranks: one has no memory for the starts. */
static bool gathers_describe(struct gathering *g) {
    static const char whose;
    int p = g->team->p;
    g->starts = team_keeps_agreed(g->team, &whose, 0, ((size_t)p + 1) * sizeof *g->starts, true);
    if (!g->starts) return false;
    g->starts[0] = 0;
    for (int i = 0; i < p; i++) g->starts[i + 1] = g->starts[i] + run_of(&g->recvs, i).bytes;
    g->area = run_of(&g->recvs, 0).at;
    g->apart = !lie_close(&g->recvs);
    return true;
}

static char nowhere[1]; /* for a part that is lost */

bool gathering_begin(struct gathering *g, struct team *team, const struct call *call) {
    struct blocks sends;
    *g = (struct gathering){.team = team, .call = call};
    sides_of(team, call, &sends, &g->recvs);
    g->area = g->recvs.base;
    if (call->recvs && !gathers_describe(g)) return false;
    far_begin(team, call, false);
    if (g->apart) g->area = far_take(team, g->starts[team->p] + 1);
    if (messages_lost(team)) g->area = nowhere;
    if (messages_lost(team)) return true;
    relay_own(&g->recvs, team->me, &sends, 0);
    struct run own = run_of(&g->recvs, team->me);
    if (g->apart) memcpy(gathers_place_of(g, team->me), own.at, own.bytes);
    if (call->arrived) call->arrived(call, team->me);
    return true;
}

static void gathers_start(struct gathering *g, bool sends, int rank, int first, int count,
                          int tag) {
    int p = g->team->p, end = (first %= p) + count;
    for (int part = 0; part < 2; part++) {
        int from = part ? 0 : first;
        int upto = end < p ? end : p;
        if (part) upto = end - p;
        if (from >= upto) continue;
        size_t at = start_of(g, from), bytes = start_of(g, upto) - at;
        if (sends) message_send(g->team, rank, g->area + at, bytes, tag);
        else message_recv(g->team, rank, g->area + at, bytes, tag);
    }
}

void gathering_send(struct gathering *g, int to, int first, int count, int tag) {
    gathers_start(g, true, to, first, count, tag);
}
void gathering_recv(struct gathering *g, int from, int first, int count, int tag) {
    gathers_start(g, false, from, first, count, tag);
}

void gathering_finish(struct gathering *g, int mark) { messages_finish(g->team, mark); }

void gathering_came(struct gathering *g, int first, int count) {
    int p = g->team->p;
    for (int k = 0; k < count && !messages_lost(g->team); k++) {
        int i = (first + k) % p;
        struct run to = run_of(&g->recvs, i);
        if (g->apart) memcpy(to.at, gathers_place_of(g, i), to.bytes);
        if (g->call->arrived) g->call->arrived(g->call, i);
    }
}

enum outcome gathering_end(const struct gathering *g) { return far_end(g->team); }

/* ---- bruck: in step h each rank has h blocks, beginning with its own, and receives the next h.
 * Ranges may wrap, so blocks need no rotation at the end. ceil(log2 p) steps, each a message or
 * two.
 * Cost    ceil(log2 p) (L + 2 o) + (p - 1) n beta ---- */

enum outcome gather_bruck(struct team *team, const struct call *call) {
    struct gathering g;
    int p = team->p, me = team->me, tag = 0;
    if (!gathering_begin(&g, team, call)) return LEFT;
    for (int h = 1; h < p; h *= 2, tag ^= 1) {
        int mark = messages_mark(team), count = h < p - h ? h : p - h;
        gathering_recv(&g, (me + h) % p, me + h, count, tag);
        gathering_send(&g, (me + p - h) % p, me, count, tag);
        gathering_finish(&g, mark);
        gathering_came(&g, me + h, count);
    }
    return gathering_end(&g);
}

double gather_bruck_cost(const struct figures *f, const struct shape *shape) {
    double seconds = 0;
    for (int h = 1; h < f->p; h *= 2)
        seconds += steps_seconds(f, shape, 1,
                                 (double)(h < f->p - h ? h : f->p - h) * (double)shape->bytes);
    return seconds;
}

/* ---- grid: MN-CO for allgather (li2018 section 2.5), for any p. The ranks form about sqrt(p)
 * rows. First each rank sends its block to its row; then each sends its row's blocks to one rank of
 * each other row. All messages of a phase are in flight at once.
 * Cost    2 L + 2 sqrt(p) 2 o + (p - 1) n beta ---- */

struct rank_grid {
    int p, rows;
};

static struct rank_grid grid_of(int p) {
    struct rank_grid grid = {p, 1};
    while ((grid.rows + 1) * (grid.rows + 1) <= p) grid.rows++;
    return grid;
}
/* Row r holds the ranks first_in(r) .. first_in(r + 1) - 1. */
static int first_in(const struct rank_grid *grid, int r) {
    return (int)((long)grid->p * r / grid->rows);
}
static int row_of(const struct rank_grid *grid, int rank) {
    int r = (int)((long)rank * grid->rows / grid->p);
    while (first_in(grid, r + 1) <= rank) r++;
    return r;
}

static void across_row(struct gathering *g, int first, int width) {
    struct team *team = g->team;
    int mark = messages_mark(team), column = team->me - first;
    for (int k = 1; k < width; k++)
        gathering_recv(g, first + (column + k) % width, first + (column + k) % width, 1, 0);
    for (int k = 1; k < width; k++)
        gathering_send(g, first + (column + width - k) % width, team->me, 1, 0);
    gathering_finish(g, mark);
    for (int k = 1; k < width; k++) gathering_came(g, first + (column + k) % width, 1);
}

/* Rows differ in width by at most one: the last rank of a wider row is served by the first rank of
 * the other row. */
static void across_rows(struct gathering *g, const struct rank_grid *grid, int mine) {
    struct team *team = g->team;
    int first = first_in(grid, mine), width = first_in(grid, mine + 1) - first,
        column = team->me - first;
    int mark = messages_mark(team);
    for (int k = 1; k < grid->rows; k++) {
        int r = (mine + k) % grid->rows, from = first_in(grid, r),
            wide = first_in(grid, r + 1) - from;
        gathering_recv(g, from + column % wide, from, wide, 1);
    }
    for (int k = 1; k < grid->rows; k++) {
        int r = (mine + grid->rows - k) % grid->rows, to = first_in(grid, r),
            wide = first_in(grid, r + 1) - to;
        for (int c = column; c < wide; c += width) gathering_send(g, to + c, first, width, 1);
    }
    gathering_finish(g, mark);
    for (int k = 1; k < grid->rows; k++) {
        int r = (mine + k) % grid->rows;
        gathering_came(g, first_in(grid, r), first_in(grid, r + 1) - first_in(grid, r));
    }
}

enum outcome gather_grid(struct team *team, const struct call *call) {
    struct rank_grid grid = grid_of(team->p);
    struct gathering g;
    int mine = row_of(&grid, team->me), first = first_in(&grid, mine);
    if (!gathering_begin(&g, team, call)) return LEFT;
    across_row(&g, first, first_in(&grid, mine + 1) - first);
    across_rows(&g, &grid, mine);
    return gathering_end(&g);
}

double gather_grid_cost(const struct figures *f, const struct shape *shape) {
    struct rank_grid grid = grid_of(f->p);
    double width = (double)f->p / grid.rows, n = (double)shape->bytes;
    return burst_seconds(f, shape, width - 1, n) +
           burst_seconds(f, shape, grid.rows - 1, width * n);
}
