/* SPDX-License-Identifier: BSD-3-Clause */
/* strangers - ranks that meet in barriers, alone and beside other programs' threads, with and
 * without work of their own: what waiting costs as patience.c has it, and as MPI libraries do it.
 */
#include "processors.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

static const double us = 1e-6, ms = 1e-3;

enum { seeds = 7 };

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Microseconds of a barrier: the median over the seeds. */
static double barrier_us(int ranks, int strangers, double work, bool together, int mode) {
    double times[seeds];
    int barriers = work > 0 || ranks >= 32 ? 800 : ranks > processors ? 4000 : 40000;
    for (int s = 0; s < seeds; s++) {
        node_set_up(ranks, together, mode, (uint64_t)s + 1);
        node.work = work;
        /* Two processors with as many threads each are what the kernel would leave as it is. */
        for (int i = 0; i < strangers; i++)
            node_join(false, together && i < ranks ? processors - 1 : i % processors, mode);
        node_run(barriers, 10);
        times[s] = node.now / node.barrier / us;
    }
    qsort(times, seeds, sizeof *times, compare);
    return times[seeds / 2];
}

/* Like an MPI library, which spins with a processor per rank and yields otherwise, or better. */
static void beside_strangers(void) {
    static const struct {
        int ranks, strangers;
        bool together;
        double most; /* us of a barrier */
        double work;
    } rows[] = {
        {2, 0, false, 0.25, 0},       {2, 0, true, 0.3, 0},       {2, 1, false, 2, 0},
        {2, 1, true, 2, 0},           {2, 2, false, 1.5, 0},      {2, 2, true, 12, 0},
        {2, 4, false, 1.5, 0},        {2, 4, true, 150, 0},       {4, 0, false, 4, 0},
        {4, 1, false, 60, 0},         {4, 2, false, 150, 0},      {8, 0, false, 8, 0},
        {8, 1, false, 90, 0},         {8, 2, false, 180, 0},      {8, 4, false, 700, 0},
        {8, 2, false, 400, 20e-6},    {8, 2, false, 900, 100e-6}, {16, 2, false, 500, 20e-6},
        {16, 2, false, 1100, 100e-6}, {32, 1, false, 200, 0},     {64, 1, false, 200, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int p = rows[i].ranks, strangers = rows[i].strangers;
        bool together = rows[i].together;
        double work = rows[i].work;
        double as_is = barrier_us(p, strangers, work, together, WAIT_AUTO);
        double usual =
            barrier_us(p, strangers, work, together, p > processors ? WAIT_YIELD : WAIT_SPIN);
        printf("%d ranks%s, work %.0f us, %d strangers: %.2f us a barrier, as MPI libraries %.2f\n",
               p, together ? " on one processor" : "", work / us, strangers, as_is, usual);
        expect(as_is <= rows[i].most && as_is <= 2 * usual,
               "%d ranks, work %.0f us, %d strangers: %.2f us a barrier, as MPI libraries %.2f", p,
               work / us, strangers, as_is, usual);
    }
}

/* A stranger comes and leaves. Then the ranks soon wait as if it had never come. */
static void comes_and_leaves(int ranks, double work, double stays) {
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        node_set_up(ranks, false, WAIT_AUTO, seed);
        node.work = work;
        node_run(1 << 30, 50 * ms);
        expect(node.naps == 0, "%d ranks alone: %d naps", ranks, node.naps);
        double before = node.now / node.barrier;
        node_join(false, 0, 0);
        node_run(1 << 30, 50 * ms + stays);
        node_leave();
        double left = node.now, after = 4 * 2 * (stays < tick ? stays : tick) * ranks;
        node_run(1 << 30, left + after);
        int naps = node.naps, barriers = node.barrier;
        node_run(1 << 30, left + after + 50 * ms);
        double again = 50 * ms / (node.barrier - barriers);
        printf(
            "%d ranks, a stranger stays for %3.0f ms: %5d naps, the last %4.0f ms after it left\n",
            ranks, stays / ms, naps, naps ? (node.napped - left) / ms : 0);
        expect(node.naps == naps, "%d ranks: the last nap is %.1f ms after the stranger left",
               ranks, (node.napped - left) / ms);
        expect(again < 1.5 * before, "%d ranks: %.2f us a barrier before the stranger, %.2f after",
               ranks, before / us, again / us);
    }
}

/* With 16 ranks that work, a wait lasts a millisecond or two though nobody else is there. */
static void at_work(void) {
    for (int ranks = 4; ranks <= 16; ranks *= 2)
        for (double work = 20 * us; work < 1 * ms; work *= 5) {
            double as_is = barrier_us(ranks, 0, work, false, WAIT_AUTO);
            double usual = barrier_us(ranks, 0, work, false, WAIT_YIELD);
            printf("%d ranks work %.0f us: %.2f us a barrier, as MPI libraries wait %.2f\n", ranks,
                   work / us, as_is, usual);
            expect(as_is < 1.01 * usual, "%d ranks work %.0f us: %.2f us a barrier, not %.2f",
                   ranks, work / us, as_is, usual);
        }
}

/* One rank of 64 comes late now and then. Its peers sleep until it comes, but not in the short
 * waits behind that. */
static void one_late(void) {
    const double late = 4 * ms;
    enum { ranks = 64, times = 20 };
    node_set_up(ranks, false, WAIT_AUTO, 1);
    node.late = late;
    node_run(times * late_every, 10);
    double a_time = node.now / times;
    int waits = node.barrier * ranks;
    printf("%d ranks, one comes %.0f ms late to each of %d barriers: %.2f ms, %d naps of %d waits\n",
           ranks, late / ms, times, a_time / ms, node.naps, waits);
    expect(a_time < 2 * late, "a rank is %.0f ms late: %.2f ms until it is again", late / ms,
           a_time / ms);
    expect(node.naps < waits / 5, "a rank is %.0f ms late: %d naps of %d waits", late / ms,
           node.naps, waits);
}

/* A program's first calls take longer than all others, and turns of 32 ranks a part of a
 * millisecond. Nobody else is there, so nobody should sleep. */
static void at_first(void) {
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        node_set_up(64, false, WAIT_AUTO, seed);
        node.work = 7 * us, node.first = 25 * us;
        node_run(200, 10);
        printf("64 ranks, first calls of %.0f us: %d naps in %d barriers\n", node.first / us,
               node.naps, node.barrier);
        expect(node.naps == 0, "64 ranks alone: %d naps", node.naps);
    }
}

int main(void) {
    beside_strangers();
    at_work();
    at_first();
    one_late();
    for (int ranks = 2; ranks <= 8; ranks *= 2) {
        comes_and_leaves(ranks, 0, 3 * ms);
        comes_and_leaves(ranks, 0, 300 * ms);
    }
    comes_and_leaves(64, 7 * us, 3 * ms);
    return 0;
}
