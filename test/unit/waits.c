/* SPDX-License-Identifier: BSD-3-Clause */
/* waits - waiting for late ranks told apart from the rest, with threads as ranks that say when they
 * entered; and that no rank yields when its wait is over. waits [SEED [ROUNDS]] */
#define _GNU_SOURCE
#include "crew.h"

#include "plan/plan.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int rounds = 200;

/* When did the late rank enter? */
enum when { LONG_AGO, NOW, IN_FUTURE, KINDS };

static double entered_at(enum when when) {
    return when == LONG_AGO ? 1 : clock_seconds() + (when == IN_FUTURE ? 1000 : 0);
}

/* Checks the waits of one call of this rank, in which `late` entered last, at a time that all
 * know. */
static void check_call(const struct team *team, enum when when, int late, double entered, bool last,
                       double began, double length) {
    const struct waits *waits = &team->waits;
    double before = entered - began < length ? entered - began : length;
    if (last || before <= 0) {
        expect(waits->late_count == 0 && waits->late_seconds == 0,
               "p=%d when %d: rank %d waited %g s for rank %d", team->p, when, team->me,
               waits->late_seconds, waits->late_count ? waits->late[0].rank : -1);
        return;
    }
    expect(when != LONG_AGO, "p=%d: rank %d waited for who had entered before", team->p, team->me);
    expect(when != IN_FUTURE || before == length, "p=%d: a wait ended before its reason did",
           team->p);
    expect(waits->late_count == 1 && waits->late[0].rank == late,
           "p=%d when %d: rank %d waited for %d ranks, among them %d, not %d", team->p, when,
           team->me, waits->late_count, waits->late[0].rank, late);
    expect(waits->late_seconds == before && waits->late[0].seconds == before,
           "p=%d when %d: %g s instead of %g", team->p, when, waits->late_seconds, before);
}

/* The same where ranks watch each other: each wait is for one of them. */
static void check_watched(const struct team *team, enum when when, int late) {
    const struct waits *waits = &team->waits;
    expect(waits->late_count <= 1 && (waits->late_count == 0 || waits->late[0].rank == late),
           "p=%d when %d: rank %d waited for %d ranks, among them %d, not %d", team->p, when,
           team->me, waits->late_count, waits->late[0].rank, late);
    expect(waits->late_count == 0 || (when != LONG_AGO && team->me != late),
           "p=%d: rank %d waited for who had entered before", team->p, team->me);
    bool whole = team->p == 2 && when == IN_FUTURE && team->me != late;
    expect(whole ? waits->late_seconds == waits->seconds : waits->late_seconds <= waits->seconds,
           "p=%d when %d: %g s of %g", team->p, when, waits->late_seconds, waits->seconds);
}

static double entered; /* when the late rank did; written before the barrier */

/* The first barrier of a call. */
static void meet(struct team *team, enum when when, int late) {
    uint32_t trouble = 0;
    bool last = crew_arrives(team, &trouble);
    if (last) sync_release(team);
    else sync_wait(team);
    check_call(team, when, late, entered, last, team->waits.began, team->waits.length);
    double seconds = team->waits.seconds;
    expect(last ? seconds == 0 : seconds == team->waits.length, "rank %d waited %g s, not %g",
           team->me, seconds, team->waits.length);
}

static void many_calls(struct rank *rank) {
    struct team *team = &rank->team;
    struct tally tally = {0};
    double late_seconds = 0, inside_seconds = 0, booked = 0;
    uint64_t late_times = 0, booked_times = 0;
    for (int round = 0; round < rounds; round++) {
        if (round % 32 == 31 && !crew_goes_on(rank)) break;
        enum when when = draw_below(&rank->common, KINDS);
        int late = (int)draw_below(&rank->common, (uint32_t)team->p);
        bool second = draw_below(&rank->common, 2),
             watch = draw_below(&rank->common, 2) && team->beacons;
        dawdle(&rank->own);
        /* No rank's clock begins that late. */
        double mine = team->me == late ? entered_at(when) : 0.5;
        if (team->me == late) entered = mine;
        waits_begin(team, mine);
        expect(team->waits.on && team->waits.open, "not begun");
        if (watch) sync_all(team, 0), check_watched(team, when, late);
        else meet(team, when, late);
        expect(!team->waits.open, "rank %d: the first barrier was not noticed", team->me);
        double seconds = team->waits.seconds;
        if (second) { /* another barrier of the same call: the algorithm's own waiting */
            double before = team->waits.late_seconds;
            sync_all(team, 0);
            expect(team->waits.late_seconds == before && team->waits.seconds >= seconds,
                   "rank %d: late inside the call", team->me);
        }
        late_seconds += team->waits.late_seconds, late_times += (uint64_t)team->waits.late_count;
        inside_seconds += team->waits.seconds - team->waits.late_seconds;
        tally_waits(&tally, team);
        waits_end(team);
        seconds = team->waits.seconds;
        sync_all(team, 0); /* `entered` is written again */
        expect(team->waits.seconds == seconds && !team->waits.on,
               "rank %d: a wait outside a call is counted", team->me);
    }
    for (int r = 0; tally.late && r < team->p; r++)
        booked += tally.late[r].seconds, booked_times += tally.late[r].times;
    double wrong = booked - late_seconds;
    expect(wrong < 1e-9 && wrong > -1e-9 && booked_times == late_times &&
               tally.late_seconds == late_seconds,
           "rank %d: %g s in the tally instead of %g", team->me, booked, late_seconds);
    expect(tally.inside_seconds == inside_seconds, "rank %d: inside", team->me);
    free(tally.late);
}

/* A rank that reports nothing is never named, and harms nobody. */
static void one_silent(struct rank *rank) {
    struct team *team = &rank->team;
    for (int round = 0; round < rounds; round++) {
        if (round % 32 == 31 && !crew_goes_on(rank)) return;
        dawdle(&rank->own);
        if (team->me > 0) waits_begin(team, clock_seconds());
        sync_all(team, 0);
        const struct waits *waits = &team->waits;
        expect(waits->late_count == 0 || waits->late[0].rank > 0, "rank %d blames the silent one",
               team->me);
        expect(waits->late_seconds >= 0 && waits->late_seconds <= waits->seconds,
               "rank %d: more than all", team->me);
        waits_end(team);
    }
}

/* Who waits for one peer after the other: what lies before their entries, and the time is not
 * counted twice. */
static void peers(void) {
    struct team team = {.p = 4};
    waits_begin(&team, 100);
    team.waits.began = 100, team.waits.length = 5;
    waits_for(&team, 2, 103);
    team.waits.began = 106, team.waits.length = 1;
    waits_for(&team, 1, 104);
    waits_for(&team, 3, 106);
    waits_for(&team, 3, 109);
    const struct waits *waits = &team.waits;
    expect(waits->late_count == 2 && waits->late[0].rank == 2 && waits->late[0].seconds == 3,
           "rank 2 was 3 s late");
    expect(waits->late[1].rank == 3 && waits->late[1].seconds == 1, "no more than was waited");
    expect(waits->late_seconds == 4, "%g s in all", waits->late_seconds);
    struct team native = {.p = 2, .why_native = "a test"};
    waits_begin(&native, 100);
    expect(!native.waits.on && !native.waits.late, "a team without memory has waits");
    free(team.waits.late);
}

/* ---- an MPI library that yields in its progress, on an oversubscribed node ---- */

static struct flag *awaited; /* 0 until the wait is over; NULL: not this test */
static int drives, drives_needed;

int sched_yield(void) {
    expect(!awaited || flag_look(awaited) == 0, "a rank yields although its wait is over");
    return (int)syscall(SYS_sched_yield);
}

/* The peers have run while the library yielded. */
static void library_yields(struct team *team) {
    (void)team;
    if (++drives == drives_needed) flag_add(awaited);
}

static void yields_once(void) {
    struct flag flag = {0};
    struct team team = {.p = 64, .progress = library_yields};
    team.patience.tick_rate = clock_ticks_per_second();
    patience_settle(&team.patience, 64, 2);
    awaited = &flag;
    for (drives_needed = 1; drives_needed < 8; drives_needed++) {
        drives = 0;
        flag_wait(&team, &flag, 0);
        expect(drives == drives_needed, "%d drives instead of %d", drives, drives_needed);
        atomic_store(&flag.word, 0);
    }
    awaited = NULL;
}

int main(int count, char **words) {
    static const int sizes[] = {1, 2, 3, 5, 8};
    static struct crew crew;
    uint64_t random = seed_from(count, words);
    if (count > 2) rounds = atoi(words[2]);
    peers();
    yields_once();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        crew = (struct crew){
            .p = sizes[i], .slot = 64, .room = 8192, .seed = draw(&random), .body = many_calls};
        crew.spinning = sizes[i] <= processors_here();
        crew_run(&crew);
        crew.body = one_silent;
        crew_run(&crew);
    }
    printf("at most %d calls per team\n", rounds);
    return 0;
}
