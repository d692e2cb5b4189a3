/* SPDX-License-Identifier: BSD-3-Clause */
/* learn - measures plans in the running program, per team, collective and size class, against the
 * host MPI as one of them. ramesh2024 section V-C (online choice), made bounded and lasting:
 *
 * Pairs. Two arms are tried one right after the other, a few calls each, so that what else the
 * machine does hits both. Which one comes first matters, so what counts is the ratio of their times
 * over two pairs, one of either order. The arm in use, the incumbent, is replaced by a rival that
 * was 3 % better in each of the latest four ratios; a rival that is clearly slower is tried again
 * only now and then.
 * Agreement. Ranks decide alike without a message: before a call that has a barrier anyway each
 * rank adds its times to two words of the control block (sums_add), after the call all read the
 * sums. The mean over ranks is what counts.
 * Collectives in which ranks may run ahead of each other are compared by many calls, so that what
 * is still under way at either end counts for little (lengthen); and loose plans bring no barrier
 * for the sums, so one is added.
 * Where such a rival is far better in both orders, which is so when ranks come at different times,
 * these two pairs are enough, and they come one right after the other.
 * Budget. Trying a slower arm costs (its time - the incumbent's) per call. A pair is tried only
 * when what was spent so far and what it is expected to cost stay below MORTAR_REGRET per cent of
 * the time in this class, and a constant. The first look at an unknown arm is one call, expected to
 * take twice as long as the incumbent.
 * Results. Where they depend on how an operation is bracketed (sums of floating-point numbers) the
 * clock must not choose what is delivered: in mode watch a rival runs beside the incumbent, on a
 * copy, and one that wins is told but not taken.
 * Modes: watch (default): the model's choice against native, and the hybrid copy's threshold halved
 * while that gains (ramesh2024 section V-E); online: everything that could win; paper: the model's
 * choice and each order three times, the fastest is kept. */
#include "plan/learn.h"

#include <stdlib.h>
#include <string.h>

enum {
    first_calls = 4,
    most_calls = 32,
    least_pairs = 4,
    settled_pairs = 6,
    least_rest = 8,
    longest_rest = 1 << 20,
    paper_calls = 3,
    out_rounds = 8,
    first_loose = 4,
    least_loose = 8,
    most_loose = 96,
    most_grown = 3 /* first_loose << 2 * most_grown is more than most_loose */
};
/* Timed calls of an arm last about this; no warming up above this. */
static const double stretch_seconds = 20e-6, long_call = 5e-3;
static const double free_seconds = 2e-3; /* the budget's constant */
/* Timed calls of a loose arm last about this. */
static const double loose_seconds = 20e-3;
/* The class is looked at again at least so often, in its own time. */
static const double rest_seconds = 0.5;
/* So much better that the next pair need not wait: it costs nothing. */
static const double plain = 0.8;
static const double better = 0.97, worse = 1.05, hopeless = 4, obvious = 0.6;

/* Can ranks run ahead of each other? Where everybody needs something of everybody they cannot,
 * whatever the plan. */
static bool is_loose(enum collective collective) {
    return among(collective, ROOTED | NEIGHBORS | BIT(reduce) | BIT(scan) | BIT(exscan));
}

enum learn_mode learn_mode(void) {
    return (enum learn_mode)option_choice(OPTION_TUNE, "off|watch|online|paper");
}

bool learn_start(struct learner *l, const struct team *team, const struct shape *shape,
                 bool in_reach, struct plan *plan) {
    char texts[most_arms][64];
    *l = (struct learner){.mode = learn_mode(), .shape = *shape};
    if (l->mode == LEARN_OFF) return false;
    l->in_reach = in_reach;
    l->turn = -1;
    l->native = -1;
    l->favourite = -1;
    l->better = -1;
    l->beside = l->mode == LEARN_WATCH && shape->rounds;
    l->rest = first_calls;
    enum rivals which = l->mode == LEARN_WATCH   ? RIVALS_likely
                        : l->mode == LEARN_PAPER ? RIVALS_orders
                                                 : RIVALS_all;
    l->count = plan_rivals(&team->figures, shape, in_reach, plan->text, which, texts, most_arms);
    l->loose = is_loose(shape->collective);
    for (int a = 0; a < l->count; a++) {
        if (strcmp(texts[a], "native") == 0) l->native = a;
        if (strcmp(texts[a], plan->text) == 0) l->arms[a].plan = plan, l->incumbent = a;
        memcpy(l->arms[a].text, texts[a], sizeof *texts);
    }
    return l->count > 1 && l->arms[l->incumbent].plan == plan;
}

static double share(void) { return (double)option_number(OPTION_REGRET) / 100; }

/* ---- what the ratios say ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of the ratios, and an interval that holds the true one with 95 % (order statistics;
 * all of them below six). */
static double middle(const struct arm *arm, double *low, double *high) {
    static const int cut[most_ratios + 1] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3};
    double sorted[most_ratios];
    int n = arm->pairs < most_ratios ? arm->pairs : most_ratios;
    memcpy(sorted, arm->ratio, sizeof sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    *low = sorted[cut[n]];
    *high = sorted[n - 1 - cut[n]];
    return (sorted[n / 2] + sorted[(n - 1) / 2]) / 2;
}

static void enthrone(struct learner *l, struct team *team, int arm) {
    struct plan *plan = l->arms[arm].plan;
    bool native = arm == l->native;
    note("%s of %zu bytes on %d ranks: %s instead of %s, as measured",
         collective_names[l->shape.collective], l->shape.bytes, team->p, plan->text,
         l->arms[l->incumbent].text);
    l->arms[arm].plan = plan_ready(team, &l->shape, plan->text, "measured",
                                   native ? "measured: the host MPI is faster here" : NULL);
    if (!l->arms[arm].plan) l->arms[arm].plan = plan;
    l->incumbent = arm;
    l->settled = 0;
    learn_spoil(l);                    /* a pair with the old one */
    for (int a = 0; a < l->count; a++) /* they were compared with another */
        l->arms[a].pairs = 0, memset(l->arms[a].way, 0, sizeof l->arms[a].way);
}

static void learn_judge(struct learner *l, struct team *team, int rival) {
    struct arm *arm = &l->arms[rival];
    double low, high;
    l->settled++;
    /* Look again soon. */
    if (arm->ratio[(arm->pairs - 1) % most_ratios] < better && !l->beside)
        l->settled = 0, arm->out = false;
    bool clear = l->loose && arm->way[0][0] < obvious * arm->way[0][1] &&
                 arm->way[1][0] < obvious * arm->way[1][1];
    if (arm->pairs < least_pairs && !clear) return;
    bool wins = arm->pairs >= least_pairs; /* the latest ones count: times change */
    for (int i = 1; i <= least_pairs && wins; i++)
        wins = wins && arm->ratio[(arm->pairs - i) % most_ratios] < better;
    double ratio = middle(arm, &low, &high);
    if (l->beside && (wins || l->better == rival)) l->better = wins ? rival : -1;
    if (l->beside) return;
    if (wins || clear) enthrone(l, team, rival);
    else if (ratio > worse && low > 1 && rival != l->native) arm->out = true;
}

/* ---- a pair: begin, run, tell, hear ---- */

/* A slower one is looked at again only now and then. */
static bool eligible(const struct learner *l, int a) {
    if (a == l->incumbent || l->arms[a].broken) return false;
    return !l->arms[a].out || l->rounds % out_rounds == 0;
}

/* Few calls of a loose arm tell nothing: a rank that leaves early has not paid yet. But many calls
 * of a slow one are dear. So pairs grow as long as the rival looks no worse, and only those of full
 * length are evidence. */
static void lengthen(const struct learner *l, int rival, struct pair *pair) {
    double fit = loose_seconds / l->arms[l->incumbent].seconds;
    int full = fit > most_loose ? most_loose : fit < least_loose ? least_loose : (int)fit;
    int length = first_loose << 2 * l->arms[rival].grown;
    pair->calls = length < full ? length : full;
    pair->warm = pair->calls / 3 + 1;
    pair->look = length < full;
}

/* A pair with this rival; returns for how many calls it has to wait until the budget allows it, 0:
 * not at all. */
static double plan_pair(const struct learner *l, int rival, struct pair *pair) {
    double each = l->arms[l->incumbent].seconds, fit = stretch_seconds / each;
    bool look = l->arms[rival].seconds <= 0;
    *pair = (struct pair){.arm = {l->incumbent, rival}, .calls = 1, .look = look};
    if (!look && fit >= 1) pair->calls = fit > most_calls ? most_calls : (int)fit;
    if (!look && each <= long_call) pair->warm = 1;
    if (!look && l->loose) lengthen(l, rival, pair);
    if (l->arms[rival].first) pair->arm[0] = rival, pair->arm[1] = l->incumbent;
    double extra = (look ? 2 : l->arms[rival].seconds / each) - !l->beside;
    double cost = extra > 0 ? extra * each * (pair->calls + pair->warm) : 0;
    double missing = (l->spent + cost - free_seconds) / share() - (double)l->calls * each;
    return missing > 0 ? missing / each + 1 : 0;
}

static bool begin_paper(struct learner *l) {
    int a = 0;
    while (a < l->count && (l->arms[a].seconds > 0 || l->arms[a].broken)) a++;
    l->rest = longest_rest;
    if (a == l->count) return false;
    l->pair =
        (struct pair){.arm = {a, a + 1 < l->count ? a + 1 : l->incumbent}, .calls = paper_calls};
    return true;
}

/* Is there a rival that nobody has looked at yet? The budget is for it, not for one that is known
 * to be slower. */
static bool has_untried(const struct learner *l) {
    for (int a = 0; a < l->count; a++)
        if (l->arms[a].seconds <= 0 && eligible(l, a)) return true;
    return false;
}

/* Chooses the next pair, in turns among the rivals. False: none, now; l->rest is set. */
static bool begin_pair(struct learner *l) {
    l->rounds++;
    if (l->mode == LEARN_PAPER) return begin_paper(l);
    bool unknown = l->arms[l->incumbent].seconds <= 0, untried = has_untried(l);
    double least = longest_rest;
    if (!unknown && l->favourite >= 0 && eligible(l, l->favourite) &&
        plan_pair(l, l->favourite, &l->pair) <= 0)
        return true;
    for (int k = 1; k <= l->count; k++) {
        int a = (l->rounds + k) % l->count;
        if (!eligible(l, a) || (untried && l->arms[a].seconds > l->arms[l->incumbent].seconds))
            continue;
        double wait = 0;
        if (!unknown) wait = plan_pair(l, a, &l->pair);
        else /* how long does a call take at all? Only a plan with a barrier can tell the others */
            l->pair =
                (struct pair){.arm = {l->incumbent, l->incumbent == l->native ? a : l->incumbent},
                              .calls = 1,
                              .look = true};
        if (wait <= 0) return true;
        if (wait < least) least = wait;
    }
    /* Nobody but the slower ones, whose round will come. */
    if (least == longest_rest) least = least_rest << 3;
    l->rest = (uint64_t)least;
    return false;
}

static void crown_fastest(struct learner *l, struct team *team) {
    int best = l->incumbent;
    for (int a = 0; a < l->count; a++) {
        if (l->arms[a].broken) continue;
        if (l->arms[a].seconds <= 0) return;
        if (l->arms[a].seconds < l->arms[best].seconds) best = a;
    }
    if (best != l->incumbent) enthrone(l, team, best);
}

/* Over several nodes the times are told by messages of their own; where a rival never runs alone a
 * barrier is added. */
static bool has_barrier(const struct learner *l, const struct team *team, const struct plan *plan) {
    return team->wire || l->beside || plan->algorithm->code->run != NULL;
}

/* What the first of two arms leaves under way the second one has to finish, in its own time: over
 * TCP that was slower by a third whichever it was. So what counts is the ratio over the latest two
 * pairs, one of either order; 0: there is only one. */
static double both_ways(struct arm *rival, const struct arm *incumbent, bool first) {
    rival->way[first][0] = rival->seconds;
    rival->way[first][1] = incumbent->seconds;
    rival->first = !first;
    if (rival->way[!first][1] <= 0) return 0;
    return (rival->way[0][0] + rival->way[1][0]) / (rival->way[0][1] + rival->way[1][1]);
}

static void learn_hear(struct learner *l, struct team *team) {
    struct pair *told = &l->told;
    sums_read(team, l->sums);
    l->asked = false;
    for (int i = 0; i < 2; i++)
        told->seconds[i] = 1e-9 * (double)l->sums[i] / (told->calls * (double)team->p);
    for (int i = 0; i < 2; i++) {
        struct arm *arm = &l->arms[told->arm[i]];
        arm->seconds = told->seconds[i] > 1e-9 ? told->seconds[i] : 1e-9;
        arm->tried_seconds += arm->seconds;
        arm->tried++;
    }
    if (l->mode == LEARN_PAPER) {
        crown_fastest(l, team);
        return;
    }
    if (told->arm[0] == told->arm[1]) return;
    int mine = told->arm[0] == l->incumbent ? 0 : 1;
    if (told->arm[mine] != l->incumbent) return; /* somebody else sits there by now */
    struct arm *rival = &l->arms[told->arm[!mine]];
    double spared = l->beside ? 0 : l->arms[l->incumbent].seconds;
    double extra = (rival->seconds - spared) * (told->calls + told->warm);
    if (extra > 0) l->spent += extra;
    double ratio = rival->seconds / l->arms[l->incumbent].seconds;
    if (told->look && ratio > hopeless && told->arm[!mine] != l->native) rival->out = true;
    if (l->loose && ratio <= worse && rival->grown < most_grown) rival->grown++;
    else if (l->loose && ratio > worse && rival->grown > 0) rival->grown--;
    uint64_t soon = (uint64_t)(told->calls + told->warm);
    if (ratio < plain && l->rest > soon && !l->beside &&
        has_barrier(l, team, l->arms[l->incumbent].plan))
        l->rest = soon;
    l->favourite = l->loose && ratio < obvious && !l->beside ? told->arm[!mine] : -1;
    if (l->favourite >= 0) l->rest = 0;
    if (told->look) return;
    ratio = both_ways(rival, &l->arms[l->incumbent], mine == 1);
    if (ratio <= 0) return;
    rival->ratio[rival->pairs++ % most_ratios] = ratio;
    if (rival->pairs >= 2 * most_ratios) rival->pairs -= most_ratios;
    learn_judge(l, team, told->arm[!mine]);
}

static uint64_t rest_after(const struct learner *l) {
    if (l->mode == LEARN_PAPER || l->arms[l->incumbent].seconds <= 0) return 0;
    uint64_t rest = (uint64_t)least_rest * (uint64_t)(l->pair.calls + l->pair.warm), most = rest;
    double fit = rest_seconds / l->arms[l->incumbent].seconds;
    if (fit > (double)most) most = fit < longest_rest ? (uint64_t)fit : longest_rest;
    for (int d = l->settled - settled_pairs * (l->count - 1); d > 0 && rest < most; d--) rest *= 2;
    return rest < most ? rest : most;
}

static struct plan *plan_of(struct learner *l, struct team *team, int a) {
    struct arm *arm = &l->arms[a];
    if (!arm->plan) {
        arm->plan = plan_ready(team, &l->shape, arm->text, "on trial",
                               a == l->native ? "on trial: what the host MPI takes" : NULL);
        if (!arm->plan) arm->broken = true;
    }
    return arm->plan;
}

/* The plan of the pair's next call; NULL when the pair is over, or cannot be. */
static struct plan *pair_turn(struct learner *l, struct team *team) {
    struct pair *pair = &l->pair;
    int length = pair->calls + pair->warm, before = l->turn - 1;
    if (before >= 0 && before % length >= pair->warm) {
        struct plan *ran = l->arms[pair->arm[before / length]].plan;
        pair->seconds[before / length] += ran->timed_seconds;
        ran->timed = false;
    }
    if (l->turn == 2 * length) {
        l->turn = -1;
        l->told = *pair;
        l->due = true;
        l->rest = rest_after(l);
        return NULL;
    }
    struct plan *plan = plan_of(l, team, pair->arm[l->turn / length]);
    if (!plan) return l->turn = -1, NULL;
    plan->timed = l->turn++ % length >= pair->warm;
    struct plan *incumbent = l->arms[l->incumbent].plan;
    if (!l->beside || plan == incumbent) return plan;
    incumbent->beside = plan;
    return incumbent;
}

/* Between pairs: the incumbent runs, and nobody asks until it is time for the next pair. */
static struct plan *rest_turn(struct learner *l, struct team *team, uint32_t *quiet) {
    struct plan *incumbent = l->arms[l->incumbent].plan;
    bool telling = l->asked || (l->due && has_barrier(l, team, incumbent));
    if (telling) return incumbent; /* the next call hears */
    if (l->rest == 0 && begin_pair(l)) {
        l->turn = 0;
        struct plan *plan = pair_turn(l, team);
        if (plan) return plan;
    }
    *quiet = (uint32_t)l->rest;
    l->calls += l->rest;
    l->rest = 0;
    return incumbent;
}

struct plan *learn_turn(struct learner *l, struct team *team, uint32_t *quiet) {
    *quiet = 0;
    l->calls++;
    if (l->asked) learn_hear(l, team);
    struct plan *plan = l->turn >= 0 ? pair_turn(l, team) : NULL;
    if (!plan) plan = rest_turn(l, team, quiet);
    if (l->due && has_barrier(l, team, plan)) {
        sums_add(team,
                 (uint64_t[2]){(uint64_t)(l->told.seconds[0] * 1e9),
                               (uint64_t)(l->told.seconds[1] * 1e9)},
                 l->sums);
        l->due = false;
        l->asked = true;
        bool brings_one = plan->algorithm->code->run && !plan->algorithm->code->loose;
        if (!brings_one && !team->wire) sync_all(team, 0); /* the barrier that it does not bring */
    }
    return plan;
}

void learn_spoil(struct learner *l) {
    if (l->turn < 0) return;
    for (int i = 0; i < 2; i++)
        if (l->arms[l->pair.arm[i]].plan)
            l->arms[l->pair.arm[i]].plan->timed = false,
            l->arms[l->pair.arm[i]].plan->beside = NULL;
    l->turn = -1;
    l->rest = least_rest;
}

bool learn_evidence(const struct learner *l, const struct plan *plan, struct evidence *evidence) {
    const struct arm *incumbent = &l->arms[l->incumbent],
                     *native = l->native < 0 ? NULL : &l->arms[l->native];
    if (incumbent->plan != plan || !native || native->tried == 0 || incumbent->tried == 0)
        return false;
    *evidence = (struct evidence){.seconds = incumbent->tried_seconds / incumbent->tried,
                                  .native_seconds = native->tried_seconds / native->tried,
                                  .pairs = native->pairs};
    if (native == incumbent || native->pairs == 0) {
        evidence->pairs = 0;
        evidence->gain = evidence->native_seconds / evidence->seconds;
    } else {
        evidence->gain = middle(native, &evidence->low, &evidence->high);
    }
    evidence->outside = !l->in_reach;
    if (l->better < 0) return true;
    const struct arm *winner = &l->arms[l->better];
    evidence->better_seconds = winner->tried_seconds / winner->tried;
    memcpy(evidence->better, winner->text, sizeof evidence->better);
    return true;
}
