/* SPDX-License-Identifier: BSD-3-Clause */
/* patience - how a rank waits, with a clock that is made up: how often the host MPI is driven, and
 * what the wait costs others. A processor is shared with ranks that wait too and, in some scenes,
 * with a thread that computes. */
#include "unit.h"

#include "reach/patience.h"

#include <stdio.h>
#include <string.h>

static const double us = 1e-6, ms = 1e-3;

struct scene {
    const char *what;
    int ranks, processors;
    double slice;    /* what a yield gives the one who computes; 0: nobody does */
    double leaves;   /* when that one is done */
    double seconds;  /* of the wait */
    double most_gap; /* the host MPI is driven so often */
    /* Of a processor: what all ranks that wait may use of it while somebody computes; 0: any. */
    double most_share;
    bool naps; /* does the rank ever sleep? */
    /* After that one has left, and so much later: no naps, and driven so often. */
    double quiet_gap, settle;
    double work; /* of each rank in its turn, and of this one before the wait */
};

static const struct scene scenes[] = {
    {"a processor each", 2, 2, 0, 0, 1, 10e-6, 0, false, 0, 0, 0},
    {"all wait, 2 ranks per processor", 4, 2, 0, 0, 1, 70e-6, 0, false, 0, 0, 0},
    {"all wait, 32 per processor", 64, 2, 0, 0, 1, 110e-6, 0, false, 0, 0, 0},
    {"one computes beside a rank", 2, 2, 3e-3, 10, 2, 3.2e-3, 0.05, true, 0, 0, 0},
    {"one computes, 2 ranks per processor", 4, 2, 3e-3, 10, 2, 3.5e-3, 0.05, true, 0, 0, 0},
    {"one computes, 32 per processor", 64, 2, 3e-3, 10, 5, 3.5e-3, 0.1, true, 0, 0, 0},
    {"one computes in short slices, 2 per processor", 4, 2, 100e-6, 10, 2, 1e-3, 0.05, true, 0, 0,
     0},
    {"one computes in short slices, 32 per processor", 64, 2, 100e-6, 10, 5, 3.5e-3, 0.1, true, 0,
     0, 0},
    {"one leaves, 2 per processor", 4, 2, 3e-3, 1, 3, 3.2e-3, 0, true, 70e-6, 0.2, 0},
    {"one leaves, 32 per processor", 64, 2, 100e-6, 1, 5, 3.5e-3, 0, true, 110e-6, 1, 0},
    {"all take turns of 7 us, 32 per processor", 64, 2, 0, 0, 1, 300e-6, 0, false, 0, 0, 7e-6},
    {"all take turns of 80 us, 32 per processor", 64, 2, 0, 0, 1, 2.7e-3, 0, false, 0, 0, 80e-6},
    {"one computes, the others take turns", 64, 2, 3e-3, 10, 5, 3.6e-3, 0.1, true, 0, 0, 7e-6},
    {"one computes, others take turns of 80 us", 64, 2, 3e-3, 10, 5, 5.7e-3, 0.1, true, 0, 0,
     80e-6},
};

/* Of one rank. */
struct watcher {
    double now, own, driven, gap, quiet_gap;
    int drives, naps, late_naps;
};

static uint64_t ticks(double seconds) { return (uint64_t)(seconds * 1e9); }

static struct patience patience_for(const struct scene *scene) {
    struct patience patience = {.mode = WAIT_AUTO, .tick_rate = 1e9};
    patience_settle(&patience, scene->ranks, scene->processors);
    return patience;
}

/* One turn of a wait, as long as it takes in this scene. */
static struct turn live(const struct scene *scene, struct patience *patience, struct vigil *vigil,
                        struct watcher *w) {
    struct turn turn = vigil_next(patience, vigil, ticks(w->now), false);
    double others = (double)scene->ranks / scene->processors - 1, before = w->now;
    bool computed = w->now < scene->leaves;
    if (turn.drives) {
        double gap = w->now - w->driven;
        if (gap > w->gap) w->gap = gap;
        if (w->now > scene->leaves + scene->settle && gap > w->quiet_gap) w->quiet_gap = gap;
        w->driven = w->now;
        w->drives += turn.drives;
    }
    if (turn.what == WATCH) {
        w->now += 2 * us;
    } else if (turn.what == GIVE) {
        double turns = others > 0 ? others * (1.3 * us + scene->work) : 0;
        w->now += 1 * us + turns + (computed ? scene->slice : 0);
    } else {
        w->now += turn.seconds + 60 * us;
        w->naps++;
        if (before > scene->leaves + scene->settle) w->late_naps++;
    }
    w->own += turn.what == WATCH ? 2 * us : turn.what == GIVE ? 1.3 * us : 5 * us;
    return turn;
}

static void play(const struct scene *scene) {
    struct patience patience = patience_for(scene);
    if (scene->work > 0) patience.left = 1; /* a wait has ended before */
    struct watcher w = {.now = scene->work};
    struct vigil vigil = vigil_begin(&patience, ticks(w.now));
    double ranks = (double)scene->ranks / scene->processors;
    while (w.now < scene->seconds) live(scene, &patience, &vigil, &w);
    double share = w.own / w.now * (ranks > 1 ? ranks : 1);
    printf(
        "%-46s driven %7.0f times a second, at most %5.0f us apart; %4d naps; %4.1f %% of the processor\n",
        scene->what, w.drives / w.now, w.gap / us, w.naps, 100 * share);
    expect(w.gap <= scene->most_gap, "%s: the host MPI was not driven for %.0f us", scene->what,
           w.gap / us);
    expect((w.naps > 0) == scene->naps, "%s: %d naps", scene->what, w.naps);
    expect(scene->most_share == 0 || share <= scene->most_share, "%s: %.1f %% of the processor",
           scene->what, 100 * share);
    if (scene->settle == 0) return;
    expect(w.late_naps == 0 && w.quiet_gap <= scene->quiet_gap,
           "%s: %d naps when nobody computed, driven %.0f us apart", scene->what, w.late_naps,
           w.quiet_gap / us);
}

/* A message that came while the rank slept: the next ones find it awake. */
static void messages(const struct scene *scene) {
    struct patience patience = patience_for(scene);
    struct vigil vigil = vigil_begin(&patience, 0);
    struct watcher w = {.now = 0};
    for (int burst = 0; burst < 100; burst++) {
        for (double until = w.now + 20 * ms;
             w.now < until || live(scene, &patience, &vigil, &w).what != NAP;)
            if (w.now < until) live(scene, &patience, &vigil, &w);
        vigil_worked(&vigil, ticks(w.now));
        struct turn turn = vigil_next(&patience, &vigil, ticks(w.now), false);
        expect(turn.what == GIVE && turn.drives,
               "%s: a rank that just served a message does not drive", scene->what);
        do w.now += scene->slice;
        while ((turn = vigil_next(&patience, &vigil, ticks(w.now), false)).what != NAP);
        expect(turn.seconds <= 100 * us, "%s: after a message the first nap takes %.0f us",
               scene->what, turn.seconds / us);
    }
}

/* A short wait in which each yield takes so long: what the rank does at last, and its yields. */
static int short_wait(struct patience *patience, double *now, double yield, int *yields) {
    struct turn turn;
    struct vigil vigil = vigil_begin(patience, ticks(*now));
    *yields = 0;
    while ((turn = vigil_next(patience, &vigil, ticks(*now), false)).what != NAP && *yields < 100) {
        *now += turn.what == WATCH ? 2 * us : yield;
        *yields += turn.what == GIVE;
    }
    vigil_next(patience, &vigil, ticks(*now), true);
    return turn.what;
}

/* Late yields send short waits to sleep for a time, longer each time, and that ends. */
static void strangers(int ranks) {
    const struct scene scene = {.what = "short waits", .ranks = ranks, .processors = 2};
    struct patience patience = patience_for(&scene);
    double now = 0, until, slept = 0;
    int yields;
    expect(short_wait(&patience, &now, 2 * us, &yields) == GIVE, "prompt yields, and a nap");
    for (int i = 0; i < 20; i++) {
        expect(short_wait(&patience, &now, 3 * ms, &yields) == NAP && yields == 1,
               "a yield of 3 ms, and %d yields before the nap", yields);
        for (until = now; short_wait(&patience, &now, 2 * us, &yields) == NAP; now += 50 * us)
            expect(yields == 0, "%d yields before a nap", yields);
        double sleep = now - until;
        expect(sleep > slept * 0.99 || sleep > 4 * 3 * ms * ranks, "late yield %d: sleeps %.1f ms",
               i, sleep / ms);
        expect(sleep < 4 * 3 * ms * ranks + 1 * ms, "late yield %d: sleeps %.1f ms", i, sleep / ms);
        slept = sleep;
    }
    now += 10;
    short_wait(&patience, &now, 3 * ms, &yields);
    for (until = now; short_wait(&patience, &now, 2 * us, &yields) == NAP;) now += 50 * us;
    expect(now - until < 5 * ms, "a late yield after a long time: sleeps %.1f ms",
           (now - until) / ms);
}

/* How long a wait watches first: 50 us, with a processor each; less, once yields ended waits. */
static double watches(struct patience *patience) {
    double now = 1;
    struct vigil vigil = vigil_begin(patience, ticks(now));
    while (vigil_next(patience, &vigil, ticks(now), false).what == WATCH) now += 1 * us;
    vigil_next(patience, &vigil, ticks(now + 3 * us), true);
    return now - 1;
}

static void together(void) {
    const struct scene scene = {.ranks = 2, .processors = 2};
    struct patience patience = patience_for(&scene);
    double first = watches(&patience), last = first;
    int yields;
    for (int i = 0; i < 10; i++) last = watches(&patience);
    expect(first > 40 * us && last < 3 * us, "watches for %.0f us, at last for %.0f", first / us,
           last / us);
    short_wait(&patience, &(double){1}, 3 * ms, &yields);
    expect(watches(&patience) > 40 * us, "another process came, and ranks still do not watch");
}

/* In how many of so many waits the rank leaves its processor, if a first yield ends each. */
static int leaves(struct patience *patience, int waits) {
    int count = 0;
    for (int i = 0; i < waits; i++) {
        watches(patience);
        count += patience_leaves(patience, (uint64_t)i * 2654435761u);
    }
    return count;
}

static void parting(void) {
    const struct scene each = {.ranks = 2, .processors = 2}, many = {.ranks = 4, .processors = 2};
    struct patience patience = patience_for(&each), crowded = patience_for(&many);
    expect(leaves(&patience, 7) == 0, "a rank leaves before it knows that a peer needs it to");
    int soon = leaves(&patience, 1000), later = leaves(&patience, 4000);
    expect(soon > 0 && later <= 2, "it left %d times in 1000 waits, then %d times in 4000", soon,
           later);
    patience_watched(&patience);
    expect(leaves(&patience, 200) > 0, "after it had a processor of its own it does not leave");
    expect(leaves(&crowded, 1000) == 0, "with more ranks than processors a rank leaves");
}

/* A wait that ends with its turn number `turns`; each takes `took`. brief: it yields before
 * it makes a vigil, as wait.c does. Returns when it ends. */
static double wait_once(struct patience *patience, bool brief, double now, int turns,
                        const double took[]) {
    int k = 0;
    patience->began = ticks(now);
    patience->gave = brief && patience_gives(patience, ticks(now));
    if (patience->gave) {
        now += took[k++];
        if (k == turns && patience_prompt(patience, ticks(now))) return now;
    }
    struct vigil vigil = vigil_begin(patience, patience->began);
    for (;; now += took[k++]) {
        vigil_next(patience, &vigil, ticks(now), k == turns);
        if (k == turns) return now;
    }
}

/* It leaves the same behind as one that makes its vigil at once. */
static void briefly(int ranks) {
    enum { most = 4 };
    const struct scene scene = {.ranks = ranks, .processors = 2};
    struct patience brief = patience_for(&scene), slow = brief;
    uint64_t random = 1;
    double now = 1;
    int lates = 0, prompts = 0;
    for (int wait = 0; wait < 20000; wait++) {
        double took[most];
        int turns = draw_below(&random, 8) ? 1 : 1 + (int)draw_below(&random, most);
        for (int k = 0; k < most; k++)
            took[k] = draw_below(&random, 8) ? draw_below(&random, 60) * us
                                             : draw_below(&random, 5000) * us;
        double end = wait_once(&brief, true, now, turns, took);
        expect(end == wait_once(&slow, false, now, turns, took), "the same turns");
        expect(brief.left == slow.left && brief.work == slow.work && brief.lost == slow.lost,
               "wait %d of %d ranks: left %.3f and %.3f, work %.3f and %.3f, lost %.3f and %.3f ms",
               wait, ranks, (double)brief.left / 1e6, (double)slow.left / 1e6,
               (double)brief.work / 1e6, (double)slow.work / 1e6, (double)brief.lost / 1e6,
               (double)slow.lost / 1e6);
        expect(memcmp(&brief.brief, &slow.brief, sizeof brief.brief) == 0 &&
                   memcmp(&brief.lasting, &slow.lasting, sizeof brief.lasting) == 0,
               "wait %d of %d ranks: other rests", wait, ranks);
        lates += brief.brief.until > ticks(end);
        prompts += turns == 1;
        now = end + (draw_below(&random, 400) ? draw_below(&random, 100) * us
                                              : draw_below(&random, 30) * ms);
    }
    expect((ranks > 8 || lates > 100) && prompts > 10000,
           "%d waits after late yields, %d ended by the first one", lates, prompts);
}

/* What bounds a wait, with 8 ranks on 2 processors. */
static void bounds(void) {
    struct patience patience = {.mode = WAIT_AUTO, .tick_rate = 1e9};
    patience_settle(&patience, 8, 2);
    expect(patience.rest > ticks(3.1 * ms) && patience.rest < ticks(3.3 * ms),
           "at rest driven each 200 us for one rank, 16 times that for 4 on a processor");
    struct vigil vigil = vigil_begin(&patience, ticks(1));
    expect(vigil.usual == ticks(20 * ms), "before the first wait nothing is usual");
    int drives = 0;
    for (int turn = 0; turn < 320; turn++)
        drives += vigil_next(&patience, &vigil, ticks(1 + turn * us), false).drives;
    expect(drives >= 20, "driven %d times in 320 short yields", drives);
    patience.left = ticks(2);
    vigil = vigil_begin(&patience, ticks(2 + 1 * ms));
    expect(vigil.usual == 4 * ticks(1 * ms), "peers work as long");
    for (int wait = 0; wait < 64; wait++) {
        patience.left = ticks(3);
        vigil = vigil_begin(&patience, ticks(3));
    }
    expect(vigil.usual < ticks(0.1 * ms), "a long work counts no longer");
    double now = 4;
    for (int wait = 0; wait < 100; wait++, now += 10) { /* each yield takes 5 ms */
        patience.left = ticks(now);
        vigil = vigil_begin(&patience, ticks(now));
        vigil_next(&patience, &vigil, ticks(now), false);
        vigil_next(&patience, &vigil, ticks(now + 5 * ms), true);
    }
    expect(patience.lost <= ticks(6 * ms), "%.1f ms count as lost", (double)patience.lost / 1e6);
    patience_settle(&patience, 2000, 2);
    patience.mode = WAIT_FUTEX;
    vigil = vigil_begin(&patience, ticks(now));
    double nap = 0;
    for (int turn = 0; turn < 20; turn++, now += nap)
        nap = vigil_next(&patience, &vigil, ticks(now), false).seconds;
    expect(nap <= 3.2 * ms && nap > 3 * ms, "naps of %.1f ms", nap / ms);
}

int main(void) {
    bounds();
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) play(&scenes[i]);
    messages(&scenes[4]);
    strangers(2);
    strangers(4);
    together();
    parting();
    briefly(4);
    briefly(64);
    return 0;
}
