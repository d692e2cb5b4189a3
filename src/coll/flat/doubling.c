/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_doubling - recursive doubling (li2018 section 4.1.3, its rival [22]): in step h ranks
 * that differ in bit h exchange all blocks they have so far. If p is no power of two, the ranks
 * beyond the largest one in p first give their blocks to a partner and get all blocks from it at
 * the end.
 * Cost    ceil(log2 p) (L + 2 o) + (p - 1) n beta, and for other p another (L + 2 o) + p n beta.
 * Wins    short blocks on powers of two. */
#include "coll/flat/gathers.h"

extern const struct algorithm_code algorithm_doubling;

enum { TAG_STEP, TAG_PARTNER };

static double doubling_cost(const struct figures *f, const struct shape *shape,
                            const struct arguments *arguments) {
    (void)arguments;
    int power = power_in(f->p);
    double n = (double)shape->bytes, seconds = 0;
    for (int h = 1; h < power; h *= 2) seconds += steps_seconds(f, shape, 1, h * n * f->p / power);
    if (power < f->p)
        seconds += steps_seconds(f, shape, 1, n) + steps_seconds(f, shape, 1, f->p * n);
    return seconds;
}

/* Blocks that a group of h ranks has besides its own: those of its partners beyond the power of
 * two. */
struct range {
    int first, count;
};
static struct range partners_of(const struct gathering *g, int base, int h, int power) {
    int first = power + base, end = first + h < g->team->p ? first + h : g->team->p;
    return (struct range){first, end > first ? end - first : 0};
}

static void step(struct gathering *g, int h, int power) {
    int me = g->team->me, peer = me ^ h, mine = me & ~(h - 1), theirs = peer & ~(h - 1),
        mark = messages_mark(g->team);
    struct range more = partners_of(g, theirs, h, power), given = partners_of(g, mine, h, power);
    gathering_recv(g, peer, theirs, h, TAG_STEP);
    gathering_recv(g, peer, more.first, more.count, TAG_STEP);
    gathering_send(g, peer, mine, h, TAG_STEP);
    gathering_send(g, peer, given.first, given.count, TAG_STEP);
    gathering_finish(g, mark);
    gathering_came(g, theirs, h);
    gathering_came(g, more.first, more.count);
}

static void be_served(struct gathering *g, int power) {
    int me = g->team->me, p = g->team->p, mark = messages_mark(g->team);
    gathering_send(g, me - power, me, 1, TAG_PARTNER);
    gathering_recv(g, me - power, me + 1, p - 1, TAG_PARTNER);
    gathering_finish(g, mark);
    gathering_came(g, me + 1, p - 1);
}

static enum outcome doubling_run(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    (void)arguments;
    struct gathering g;
    int p = team->p, me = team->me, power = power_in(p), partner = me + power,
        mark = messages_mark(team);
    if (!gathering_begin(&g, team, call)) return LEFT;
    if (me >= power) {
        be_served(&g, power);
        return gathering_end(&g);
    }
    if (partner < p) {
        gathering_recv(&g, partner, partner, 1, TAG_PARTNER);
        gathering_finish(&g, mark);
        gathering_came(&g, partner, 1);
    }
    for (int h = 1; h < power; h *= 2) step(&g, h, power);
    if (partner < p) gathering_send(&g, partner, partner + 1, p - 1, TAG_PARTNER);
    gathering_finish(&g, mark);
    return gathering_end(&g);
}

const struct algorithm_code algorithm_doubling = {.where = BY_MESSAGES,
                                                  .loose = true,
                                                  .copies_in = true,
                                                  .cost = doubling_cost,
                                                  .run = doubling_run};
