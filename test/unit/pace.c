/* SPDX-License-Identifier: BSD-3-Clause */
/* pace - whether reductions to ranks that come at different times go together or apart
 * (src/coll/node/pace.h), with programs and a clock that are made up. Ranks that went apart are
 * apart in the next meeting, unless all wait for all; so a program that is faster together gets
 * there by trials only. */
#include "unit.h"

#include "coll/node/pace.h"

#include <stdio.h>

static double clock_now;
static const double ms = 1e-3, behind = 60, model = 2.9e-3;
/* What a phase may take longer than if all its calls went as is faster. */
static const double most_longer = 0.1;

/* A phase of a program: what a call takes, with what is between two, and how late ranks are. */
struct phase {
    double together, apart;
    double late;
    int calls;
    double least, most; /* the share of calls that go together */
};

struct program {
    const char *what;
    struct phase phases[4];
    int pause_every; /* calls; then a rank writes a file; 0: never */
    int stall_every; /* calls; then a rank is late by 20 ms; 0: never */
    int moves_in;    /* call number; a rank is late by 100 ms, for its memory moves; 0: none */
};

static const struct program programs[] = {
    {"late by little, together is faster", {{4, 6, 1, 2000, 1, 1}}, 0, 0, 0},
    {"late by more than the tree costs, together is faster", {{4, 6, 4, 2000, 0.9, 1}}, 0, 0, 0},
    {"the same, with pauses", {{4, 6, 4, 2000, 0.9, 1}}, 50, 0, 0},
    {"apart is faster", {{2.3, 1.6, 4, 2000, 0, 0.03}}, 0, 0, 0},
    {"apart is faster, with pauses", {{2.3, 1.6, 4, 2000, 0, 0.03}}, 50, 0, 0},
    {"late by more than a trial can gain", {{1050, 1000, 50, 2000, 0, 0.005}}, 0, 0, 0},
    {"apart is much faster", {{1000, 16, 1000, 2000, 0, 0.03}}, 0, 0, 0},
    {"phases",
     {{4, 6, 4, 1000, 0.8, 1}, {9, 6, 4, 1000, 0, 0.08}, {4, 6, 4, 8000, 0.7, 1}},
     0,
     0,
     0},
    {"a slow phase later",
     {{4, 6, 4, 1000, 0.8, 1}, {11, 16, 4, 2000, 0.8, 1}, {16, 11, 4, 2000, 0, 0.1}},
     0,
     0,
     0},
    {"far apart at first", {{4, 6, 8, 2, 1, 1}, {4, 6, 1, 2000, 1, 1}}, 0, 0, 0},
    {"late by little, at times by more", {{4, 6, 1, 2000, 1, 1}}, 0, 50, 0},
    {"late by little, memory moves", {{4, 6, 1, 2000, 1, 1}}, 0, 0, 16},
    {"late by little, memory moves at once", {{4, 6, 1, 2000, 1, 1}}, 0, 0, 1}};

/* Other ranks see other times, and the same verdicts. */
struct rank {
    struct pace pace;
    double slowness;
};

/* The next call; true: together. Who has to be waited for is calls behind if the last ones went
 * apart. */
static bool go(struct rank *ranks, const struct phase *phase, bool stalls, bool moves) {
    struct pace *pace = &ranks[0].pace, *other = &ranks[1].pace;
    bool was_apart = pace->latest == APART, together = false;
    bool passes = pace_passes(pace), other_passes = pace_passes(other);
    if (!passes) {
        double wait = pace_patience(pace, clock_now, model, moves);
        pace_patience(other, clock_now * ranks[1].slowness, model, moves);
        double late = was_apart && phase->late < behind ? behind : phase->late;
        if (stalls) late = 20;
        if (moves) late = 100;
        together = wait == 0 || late * ms < wait;
        for (int r = 0; r < 2; r++)
            pace_keep(&ranks[r].pace, together ? TOGETHER : APART, together ? late * ms : wait);
        if (!together) clock_now += wait;
    }
    expect(passes == other_passes && pace->met == other->met && pace->row == other->row &&
               pace->passing == other->passing && pace->trying == other->trying &&
               pace->tried == other->tried && pace->failed == other->failed &&
               pace->latest == other->latest,
           "ranks with the same verdicts do not meet alike");
    /* Those that are ahead of others do not wait at first. */
    double seconds = together ? phase->together : phase->apart * (pace->row < 4 ? 0.5 : 1);
    if (together && was_apart) seconds += behind;
    clock_now += seconds * ms;
    return together;
}

static void run(const struct program *program) {
    struct rank ranks[2] = {{.slowness = 1}, {.slowness = 1.3}};
    clock_now = 1;
    for (const struct phase *phase = program->phases; phase->calls > 0; phase++) {
        int together = 0, number = (int)(phase - program->phases);
        double best = phase->together < phase->apart ? phase->together : phase->apart,
               began = clock_now;
        for (int k = 0; k < phase->calls; k++) {
            together += go(ranks, phase, program->stall_every && k % program->stall_every == 49,
                           program->moves_in && k == program->moves_in);
            if (program->pause_every && k % program->pause_every == 0)
                clock_now += 0.2, began += 0.2;
        }
        double share = (double)together / phase->calls,
               longer = (clock_now - began) / (phase->calls * best * ms) - 1;
        expect(share >= phase->least && share <= phase->most && longer <= most_longer,
               "%s, phase %d: %.3f of the calls together, not %g to %g, %.2f longer", program->what,
               number, share, phase->least, phase->most, longer);
    }
}

/* What a call apart costs more: nothing is known, then by how long copies take. */
static void costs(void) {
    struct pace pace = {0};
    expect(pace_usual(&pace, model) == most_times * model, "at first ranks wait little");
    pace.met = first_meetings;
    expect(pace_usual(&pace, model) == model, "nothing is measured, and it is not the model");
    const double times[][2] = {{3, 3}, {9, 4}, {0.5, 1}};
    for (int i = 0; i < 3; i++) {
        pace.times = 0;
        for (int k = 0; k < 40; k++) pace_passed(&pace, times[i][0] + k % 8);
        double found = pace_usual(&pace, model) / model;
        expect(found >= times[i][1] && found < 1.2 * times[i][1], "%g for copies of %g", found,
               times[i][0]);
    }
    for (int k = 0; k < 200; k++) pace_passed(&pace, 3);
    expect(pace_usual(&pace, model) > 2.9 * model, "copies that take longer are not seen");
}

int main(void) {
    costs();
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) run(&programs[i]);
    puts("pace: passed");
    return 0;
}
