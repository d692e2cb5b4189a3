/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.h - when ranks that may call together or apart (either.c) try to meet, and for how long they
 * wait then. Each rank remembers a struct pace. By the verdicts, which all ranks hear alike, all
 * know alike when the next meeting is and whether there is a trial; the times are a rank's own.
 *
 * The more meetings in a row went apart, the more calls go apart until the next. Ranks that go
 * apart run ahead of each other, and come to the next meeting apart for that alone, even where they
 * would be faster together: where they share processors the calls apart cost all of them more. So
 * after many such meetings there is a trial: pace_calls calls for which a rank waits for the others
 * until they have taken as long as calls apart do, with what the program does between them. If they
 * are done sooner, all go on so, and wait for each other without an end, until that pace is lost.
 * The more trials in a row have failed, the more rarely there is one. */
#ifndef MORTAR_COLL_PACE_H
#define MORTAR_COLL_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { NOTHING, TOGETHER, APART }; /* verdicts */

enum { most_apart = 4, pace_calls = 1 << most_apart };
/* So many meetings in a row go apart before a trial; twice as many after each that has failed. */
enum { first_trial = 8, most_failed = 20 };

struct pace {
    _Alignas(64) uint64_t met; /* meetings so far */
    int latest;                /* the verdict of the latest, */
    uint32_t row;              /* and of how many in a row */
    uint32_t passing;          /* how many of the next calls go apart without a meeting */
    uint32_t failed;           /* trials in a row */
    bool trying, tried;        /* a trial goes on; it has ended well, and all go together since */
    double began;              /* when the calls that are measured did, in seconds */
    double first;    /* what the first pace_calls apart took that were measured in a row */
    double apart;    /* what pace_calls take apart; 0: not known */
    uint32_t slower; /* together: how many in a row took longer than that */
};

/* What must be gained: by more than equal calls differ. */
static const double pace_better = 0.9;

/* The shorter of the first two; then follows shorter times faster than longer ones, since a program
 * also does other things between two calls at times: a rank writes a file, and all wait. */
static inline void pace_apart(struct pace *pace, double seconds) {
    static const double down = 1 / 2.0, up = 1 / 16.0;
    uint32_t number = pace->row - most_apart; /* of those measured in this row */
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
    if (pace->latest == APART && pace->row > most_apart) pace_apart(pace, seconds);
    pace->began = now;
}

/* Does this call go apart without a meeting? */
static inline bool pace_passes(struct pace *pace) {
    if (pace->passing == 0) return false;
    pace->passing--;
    return true;
}

/* For how many seconds to wait in the meeting that a rank enters now; 0: without an end. `usual` is
 * what a call apart costs more; where many went apart less shows whether ranks are close. */
static inline double pace_patience(struct pace *pace, double now, double usual) {
    static const double none = 1e-9;
    pace_measure(pace, now);
    if (!pace->trying && pace->latest == APART && pace->row > most_apart) return usual / 4;
    if (!pace->trying) return pace->tried && pace->slower < 2 ? 0 : usual;
    double until = pace_better * pace->apart;
    if (pace->latest == TOGETHER) until -= now - pace->began;
    return until > none ? until : none;
}

/* The meeting's verdict. */
static inline void pace_keep(struct pace *pace, int verdict) {
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
    pace->trying = pace->row == (uint32_t)first_trial << pace->failed;
    pace->tried = false;
}

#endif
