/* SPDX-License-Identifier: BSD-3-Clause */
/* paper - the learner's mode of that name: the procedure of ramesh2024 section V. The model's
 * choice and each order run MORTAR_TUNE_RUNS times one after the other, then each way of copying in
 * the fastest order. The fastest is kept, and nothing is tried after that; the host MPI never
 * is. */
#include "plan/learn.h"

#include <string.h>

bool paper_begin(struct learner *l) {
    int a = 0;
    while (a < l->count && (l->arms[a].seconds > 0 || l->arms[a].broken)) a++;
    l->rest = longest_rest;
    if (a == l->count) return false;
    l->pair = (struct pair){.arm = {a, a + 1 < l->count ? a + 1 : l->incumbent},
                            .calls = (int)option_number(OPTION_TUNE_RUNS)};
    return true;
}

/* The orders have run; now the copiers run, in the order that was fastest. */
static void add_copies(struct learner *l, const struct team *team) {
    char texts[most_arms][64];
    int count = plan_rivals(&team->figures, &l->shape, l->in_reach, l->arms[l->incumbent].text,
                            RIVALS_copies, plan_room(team), texts, most_arms);
    for (int i = 0; i < count && l->count < most_arms; i++) {
        int a = 0;
        while (a < l->count && strcmp(l->arms[a].text, texts[i]) != 0) a++;
        if (a < l->count) continue;
        memcpy(l->arms[l->count++].text, texts[i], sizeof *texts);
        l->rest = 0;
    }
    l->copies = true;
}

void paper_hear(struct learner *l, struct team *team) {
    int best = l->incumbent;
    for (int a = 0; a < l->count; a++) {
        if (l->arms[a].broken) continue;
        if (l->arms[a].seconds <= 0) return;
        if (l->arms[a].seconds < l->arms[best].seconds) best = a;
    }
    if (best != l->incumbent) learn_enthrone(l, team, best);
    if (!l->copies) add_copies(l, team);
}
