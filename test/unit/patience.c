/* SPDX-License-Identifier: BSD-3-Clause */
/* patience - how a rank waits, with a clock that is made up: how often the host MPI is driven, and
 * what the wait costs others. A processor is shared with ranks that wait too and, in some scenes,
 * with a thread that computes. */
#include "unit.h"

#include "reach/patience.h"

#include <stdio.h>

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
};

static const struct scene scenes[] = {
    {"a processor each", 2, 2, 0, 0, 1, 10e-6, 0, false, 0, 0},
    {"all wait, 2 ranks per processor", 4, 2, 0, 0, 1, 70e-6, 0, false, 0, 0},
    {"all wait, 32 per processor", 64, 2, 0, 0, 1, 110e-6, 0, false, 0, 0},
    {"one computes beside a rank", 2, 2, 3e-3, 10, 2, 3.2e-3, 0.05, true, 0, 0},
    {"one computes, 2 ranks per processor", 4, 2, 3e-3, 10, 2, 3.2e-3, 0.05, true, 0, 0},
    {"one computes, 32 per processor", 64, 2, 3e-3, 10, 5, 3.5e-3, 0.1, true, 0, 0},
    {"one computes in short slices, 2 per processor", 4, 2, 100e-6, 10, 2, 1e-3, 0.05, true, 0, 0},
    {"one computes in short slices, 32 per processor", 64, 2, 100e-6, 10, 5, 3.5e-3, 0.1, true, 0,
     0},
    {"one leaves, 2 per processor", 4, 2, 3e-3, 1, 3, 3.2e-3, 0, true, 70e-6, 0.2},
    {"one leaves, 32 per processor", 64, 2, 100e-6, 1, 5, 3.5e-3, 0, true, 110e-6, 1},
};

/* Of one rank. */
struct watcher {
    double now, own, driven, gap, quiet_gap;
    int drives, naps, late_naps;
};

static uint64_t ticks(double seconds) { return (uint64_t)(seconds * 1e9); }

static struct patience patience_for(const struct scene *scene) {
    struct patience patience = {.mode = WAIT_AUTO, .sleepy_again = 64, .tick_rate = 1e9};
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
        w->now += 1 * us + (others > 0 ? others * 1.3 * us : 0) + (computed ? scene->slice : 0);
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
    struct vigil vigil = vigil_begin(&patience, 0);
    struct watcher w = {.now = 0};
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

/* Short waits: yields that come back late send the next ones to sleep early, and that ends. */
static void strangers(void) {
    static const struct scene scene = {.what = "short waits", .ranks = 4, .processors = 2};
    struct patience patience = patience_for(&scene);
    double now = 0;
    struct vigil vigil = vigil_begin(&patience, ticks(now));
    vigil_next(&patience, &vigil, ticks(now), false);
    vigil_next(&patience, &vigil, ticks(now += 3 * ms), true);
    expect(patience.sleepy == 64, "a yield of 3 ms leaves %u sleepy waits", patience.sleepy);
    for (int wait = 0; wait < 65; wait++) {
        int yields = 0;
        vigil = vigil_begin(&patience, ticks(now));
        while (vigil_next(&patience, &vigil, ticks(now), false).what == GIVE && yields < 100)
            now += 2 * us, yields++;
        expect(yields == (wait < 64 ? 10 : 100),
               "wait %d after a late yield: sleep after %d yields", wait, yields);
    }
}

int main(void) {
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) play(&scenes[i]);
    messages(&scenes[4]);
    strangers();
    return 0;
}
