/* SPDX-License-Identifier: BSD-3-Clause */
/* elimination - how `mortar tune` judges, with times that the test makes up: the fastest one wins
 * and the clearly slower ones leave, also when the whole machine is disturbed in between; what is
 * alike is settled for the first one; what cannot be told apart yet stays open; the interval holds
 * the true ratio about as often as it says.
 * elimination [SEED] */
#include "bench/common/elimination.h"
#include "unit.h"

#include <string.h>

enum { most = 6 };
static double times[most][most_rounds];

static double uniform(uint64_t *random) {
    return (double)draw_below(random, 1u << 30) / (1u << 30);
}

/* Around 1, with a few that are far too long, as on a real machine. */
static double noise(uint64_t *random, double width) {
    double factor = 1 + width * (uniform(random) + uniform(random) + uniform(random) - 1.5);
    return draw_below(random, 20) == 0 ? factor * 3 : factor;
}

struct outcome {
    int best, rounds, in;
    bool settled;
};

/* Runs until it is settled, as settle.c does; `shaken`: each round has a factor of its own, up to
 * 10. */
static struct outcome race(const double *truth, int count, double width, bool shaken, int rounds,
                           uint64_t *random) {
    struct runner runners[most];
    struct outcome outcome = {0};
    for (int r = 0; r < count; r++) runners[r] = (struct runner){.seconds = times[r]};
    while (!outcome.settled && outcome.rounds < rounds) {
        double shake = shaken ? 1 + 9 * uniform(random) : 1;
        for (int r = 0; r < count; r++) {
            if (runners[r].out) continue;
            runners[r].seconds[outcome.rounds] = truth[r] * shake * noise(random, width);
            runners[r].rounds = outcome.rounds + 1;
        }
        outcome.rounds++;
        if (outcome.rounds < 6 || outcome.rounds % 4 != 0) continue;
        outcome.settled = eliminate(runners, count, &outcome.best);
        expect(!runners[outcome.best].out, "the best one is out");
    }
    outcome.in = runners_in(runners, count);
    return outcome;
}

/* How often, out of 200, does the clearly fastest one win? */
static void clear_winner(bool shaken, uint64_t *random) {
    static const double truth[most] = {5e-6, 4e-6, 2e-6, 2.4e-6, 3e-6, 9e-6};
    int won = 0, rounds = 0;
    for (int i = 0; i < 200; i++) {
        struct outcome outcome = race(truth, most, 0.2, shaken, most_rounds, random);
        expect(outcome.settled && outcome.in == 1, "not settled after %d rounds, %d left",
               outcome.rounds, outcome.in);
        won += outcome.best == 2;
        rounds += outcome.rounds;
    }
    expect(won >= 190, "the fastest one won %d of 200%s", won,
           shaken ? ", on a shaken machine" : "");
    expect(rounds < 200 * 60, "%d rounds on average to see 20 %%", rounds / 200);
}

/* Within 2 %: the first one, though another is the fastest; a slower one is out. */
static void alike(uint64_t *random) {
    static const double truth[4] = {9e-6, 2.005e-6, 2e-6, 2.002e-6};
    int first = 0;
    for (int i = 0; i < 100; i++) {
        struct outcome outcome = race(truth, 4, 0.02, false, most_rounds, random);
        expect(outcome.settled && outcome.best != 0, "a slow one won, or nothing is settled");
        first += outcome.best == 1;
    }
    expect(first >= 90, "the first one of equals won %d of 100", first);
}

static void open_still(uint64_t *random) {
    static const double truth[2] = {1e-6, 1.05e-6};
    int open = 0;
    for (int i = 0; i < 100; i++) open += !race(truth, 2, 1, false, 8, random).settled;
    expect(open >= 60, "8 rounds of great noise told 5 %% apart in %d of 100", 100 - open);
}

static void no_noise(void) {
    struct runner runners[3];
    int best = -1;
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < 6; i++) times[r][i] = 3 - r;
        runners[r] = (struct runner){times[r], 6, false};
    }
    runners[2].out = true; /* whoever is out does not come back, were it the fastest */
    expect(eliminate(runners, 3, &best) && best == 1 && runners[0].out && !runners[1].out,
           "best %d", best);
    struct estimate ratio = estimate_ratio(times[0], times[1], 6);
    expect(ratio.low == 1.5 && ratio.median == 1.5 && ratio.high == 1.5, "%g (%g-%g)", ratio.median,
           ratio.low, ratio.high);
    times[0][0] = 7;
    expect(estimate_ratio(times[0], NULL, 1).median == 7 &&
               estimate_ratio(times[0], NULL, 2).median == 5,
           "medians");
}

static void interval(uint64_t *random) {
    static double a[most_rounds], b[most_rounds];
    int held = 0, narrow = 0;
    for (int i = 0; i < 400; i++) {
        for (int k = 0; k < 30; k++) {
            double shake = 1 + uniform(random);
            b[k] = shake;
            a[k] = 1.3 * shake * (1 + 0.2 * (uniform(random) - 0.5));
        }
        struct estimate ratio = estimate_ratio(a, b, 30);
        expect(ratio.low <= ratio.median && ratio.median <= ratio.high, "%g (%g-%g)", ratio.median,
               ratio.low, ratio.high);
        held += ratio.low <= 1.3 && 1.3 <= ratio.high;
        narrow += ratio.high - ratio.low < 0.15;
    }
    expect(held >= 345 && narrow > 380,
           "it held the true ratio %d times out of 400, and was narrow %d times", held, narrow);
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    no_noise();
    clear_winner(false, &random);
    clear_winner(true, &random);
    alike(&random);
    open_still(&random);
    interval(&random);
    return 0;
}
