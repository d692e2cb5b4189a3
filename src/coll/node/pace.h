/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.h - when ranks that may call together or apart (either.c) try to meet, and for how long they
 * wait then. Each rank remembers a struct pace. By the verdicts, which all ranks hear alike, all
 * know alike when the next meeting is and whether there is a trial; the times are a rank's own.
 *
 * A meeting is worth waiting for as long as calls apart cost more. That is copies, mostly, which a
 * rank times where it makes them. What a row of calls together has saved so far may be spent on one
 * that is late. In a call in which the ranks' memory moves they wait longer.
 *
 * The more meetings in a row went apart, the more calls go apart until the next. Ranks that go
 * apart run ahead of each other, and come to the next meeting apart for that alone, even where they
 * would be faster together: where they share processors the calls apart cost all of them more. So
 * after many such meetings there is a trial: pace_calls calls for which a rank waits for the others
 * until they have taken as long as calls apart do, with what the program does between them, or it
 * has waited for more than they can gain. If they are done sooner, all go on so, and wait for each
 * other without an end, until that pace is lost. The more trials in a row have failed, the more
 * rarely there is one. */
#ifndef MORTAR_COLL_PACE_H
#define MORTAR_COLL_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { NOTHING, TOGETHER, APART }; /* verdicts */

enum { most_apart = 4, pace_calls = 1 << most_apart };
/* So many meetings in a row go apart before a trial: before the first, which is after 32 calls, and
 * after others have failed, twice as many after each. */
enum { first_trial = 5, next_trial = 8, most_failed = 20 };

struct pace {
    _Alignas(64) uint64_t met; /* meetings so far */
    int latest;                /* the verdict of the latest, */
    uint32_t row;              /* and of how many in a row */
    uint32_t passing;          /* how many of the next calls go apart without a meeting */
    uint32_t failed;           /* trials in a row */
    bool trying, tried;        /* a trial goes on; it has ended well, and all go together since */
    double began;              /* when the calls that are measured did, in seconds */
    double first;              /* what pace_calls apart took, as first measured in this row */
    double apart;              /* what pace_calls take apart; 0: not known */
    uint32_t slower;           /* together: how many in a row took longer than that */
    /* About the least that a call apart took lately, in what a copy should take; 0: not known. */
    double times;
    double usual;  /* what a call apart costs more, as the latest meeting took it */
    double credit; /* what the calls of this row together have saved */
    double budget; /* for how long it may still wait in this trial */
};

/* What must be gained: by more than equal calls differ. */
static const double pace_better = 0.9;

/* Before anything is known, in so many meetings, a call apart is taken to cost this many times what
 * the model says; then as many times as the copies take longer, up to that. */
enum { first_meetings = 4, most_times = 4 };
/* In calls apart. Memory moves once; ranks that come late may do so from now on. */
enum { most_credit = 8, most_moving = 64 };
/* In a trial, after its first call, a rank waits in all for so many times what as many calls apart
 * cost more by their copies. Those that share processors pay for each other's as well. */
enum { most_spent = 2 };

/* The shorter of the first two; then follows shorter times faster than longer ones, since a program
 * also does other things between two calls at times: a rank writes a file, and all wait. */
static inline void pace_apart(struct pace *pace, double seconds) {
    static const double down = 1 / 2.0, up = 1 / 16.0;
    uint32_t number = pace->row - most_apart + 1; /* of those measured in this row */
    if (number == 1) pace->first = seconds;
    if (number == 2) pace->apart = seconds < pace->first ? seconds : pace->first;
    if (number <= 2) return;
    if (seconds > 2 * pace->apart) seconds = 2 * pace->apart;
    pace->apart += (seconds - pace->apart) * (seconds < pace->apart ? down : up);
}

/* Of calls apart nothing is heard while all go together, so they are slowly forgotten, and looked
 * at again. */
static inline void pace_together(struct pace *pace, double seconds) {
    static const double forgotten = 1 / 1024.0;
    pace->slower = seconds > pace_better * pace->apart ? pace->slower + 1 : 0;
    pace->apart -= pace->apart * forgotten;
}

/* At a meeting. The first call together is not measured, since ranks are waited for that are calls
 * behind, nor are the first ones apart, when ranks get ahead. */
static inline void pace_measure(struct pace *pace, double now) {
    double seconds = now - pace->began;
    if (pace->latest == TOGETHER && pace->row % pace_calls != 1) return;
    if (pace->latest == TOGETHER && pace->row > 1) pace_together(pace, seconds);
    if (pace->latest == APART && pace->row >= most_apart)
        pace_apart(pace, pace->row == most_apart ? 2 * seconds : seconds); /* half as many calls */
    pace->began = now;
}

/* After a call that went apart without a meeting: how many times as long it took as the model says
 * of a copy. Now and then a rank only copies, and waits for nobody. */
static inline void pace_passed(struct pace *pace, double times) {
    static const double forgotten = 1 / 64.0;
    pace->times = pace->times == 0 || times < pace->times ? times : pace->times * (1 + forgotten);
}

/* What a call apart costs more; model: by the model. */
static inline double pace_usual(const struct pace *pace, double model) {
    double times = pace->met < first_meetings ? most_times : pace->times;
    if (times > most_times) times = most_times;
    return times < 1 ? model : times * model;
}

/* Does this call go apart without a meeting? */
static inline bool pace_passes(struct pace *pace) {
    if (pace->passing == 0) return false;
    pace->passing--;
    return true;
}

/* For how many seconds to wait in the meeting of the call that began now; 0: without an end. Where
 * many went apart less shows whether ranks are close. moving: this rank's memory moves in the call,
 * as that of others will. */
static inline double pace_patience(struct pace *pace, double now, double model, bool moving) {
    static const double none = 1e-9;
    pace_measure(pace, now);
    double usual = pace->usual = pace_usual(pace, model);
    if (!pace->trying && pace->latest == APART && pace->row > most_apart) return usual / 4;
    if (!pace->trying && pace->tried) return pace->slower < 2 ? 0 : usual;
    if (!pace->trying) return moving ? most_moving * usual : usual + pace->credit;
    double until = pace_better * pace->apart;
    if (pace->latest == TOGETHER) until -= now - pace->began;
    if (pace->latest == TOGETHER && until > pace->budget) until = pace->budget;
    return until > none ? until : none;
}

static inline void pace_spend(struct pace *pace, int verdict, double waited) {
    double credit = pace->credit + pace->usual - waited, most = most_credit * pace->usual;
    pace->credit = verdict == APART || credit < 0 ? 0 : credit < most ? credit : most;
    if (pace->latest == APART) pace->budget = most_spent * pace_calls * pace->usual;
    else pace->budget -= waited;
}

/* The meeting's verdict, and for how long this rank has waited for it. */
static inline void pace_keep(struct pace *pace, int verdict, double waited) {
    pace_spend(pace, verdict, waited);
    pace->met++;
    if (verdict != pace->latest) pace->row = pace->slower = 0;
    pace->latest = verdict;
    uint32_t before = pace->row++;
    if (verdict == TOGETHER) {
        if (!pace->trying || pace->row <= pace_calls) return;
        pace->trying = false, pace->tried = true, pace->failed = 0;
        return;
    }
    pace->passing = (1u << (before < most_apart ? before : most_apart)) - 1;
    if (pace->trying && pace->failed < most_failed) pace->failed++;
    pace->trying = pace->row == (pace->failed ? (uint32_t)next_trial << pace->failed : first_trial);
    pace->tried = false;
}

#endif
