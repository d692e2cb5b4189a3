/* SPDX-License-Identifier: BSD-3-Clause */
/* learn - measures plans in the running program, per team, collective and size class; the host MPI
 * is one of them. Idea: ramesh2024 section V-C (online choice), here with a bounded cost and for as
 * long as the program runs:
 *
 * Pairs. Two arms are tried back to back, a few calls each, so that noise hits both. Their order
 * matters, so the score is the ratio of their total times over two pairs, one run in each order. A
 * rival replaces the arm in use, the incumbent, if it was 3 % better in each of the latest four
 * ratios. A rival that is clearly slower is tried again only now and then. Agreement. Ranks decide
 * alike without a message. Before a call that has a barrier anyway each rank adds its times to four
 * words of the control block (sums_add); after the call all ranks read the sums and compare means
 * over the ranks. Loose collectives, in which ranks may run ahead of each other, are compared over
 * many calls, so that the calls still in flight at either end matter little (lengthen). What a rank
 * saves inside of such a call it may have to wait for behind it: a rival with which the program
 * takes longer, from one call to the next, counts as that much slower (settle_behind). Loose plans
 * have no barrier for the sums, so one is added. If a rival of a loose collective is at least 40 %
 * faster in both orders (typical with late ranks), these two pairs decide, and they run back to
 * back. Budget. Trying a slower arm costs (its time - the incumbent's) per call. A pair is tried
 * only if the cost so far plus its expected cost stays below MORTAR_REGRET per cent of the time in
 * the team's calls plus a constant, over all classes of the team. The first look at an unknown arm
 * is one call, expected to cost twice what the incumbent takes. Results. If they depend on the
 * association (sums of floating-point numbers), timing must not decide which result is delivered.
 * In mode watch a rival of another association then runs beside the incumbent, on a copy, and a
 * winner is reported but not taken; what ranks wait for late ones to begin with that is part of the
 * budget. Modes: watch (default): the model's choice against native, and ever smaller thresholds of
 * the hybrid copy (ramesh2024 section V-E); online: all plans; paper: paper.c. */
#include "plan/learn.h"

#include <stdlib.h>
#include <string.h>

enum {
    first_calls = 4,
    most_calls = 32,
    least_pairs = 4,
    settled_pairs = 6,
    least_rest = 8,
    out_rounds = 8,
    first_loose = 4,
    most_loose = 96,
    most_grown = 3 /* first_loose << 2 * most_grown is more than most_loose */
};
/* Timed calls of an arm take about stretch_seconds in all, of a loose arm loose_seconds. Calls
 * longer than long_call get no warm-up. */
static const double stretch_seconds = 20e-6, loose_seconds = 20e-3, long_call = 5e-3;
static const double free_seconds = 2e-3; /* the budget's constant */
/* The longest rest between two pairs, in seconds spent in the class. */
static const double rest_seconds = 0.5;
/* Ratio below which a rival is so much better that the next pair need not wait: it costs
 * nothing. */
static const double plain = 0.8;
static const double better = 0.97, worse = 1.05, hopeless = 4, obvious = 0.6, plainly_later = 3,
                    longer = 1.02;
/* What an arm is supposed to take of which nothing is known, in times of the incumbent. */
static const double supposed = 2;

double (*learn_clock)(void) = clock_seconds;

/* Can ranks run ahead of each other? They cannot, whatever the plan, if every rank needs data of
 * every other. */
static bool is_loose(enum collective collective) {
    return among(collective, ROOTED | NEIGHBORS | BIT(reduce) | SCANS);
}

enum learn_mode learn_mode(void) {
    return (enum learn_mode)option_choice(OPTION_TUNE, "off|watch|online|paper");
}

static bool halves(const struct figures *f, const struct shape *shape, const char *text) {
    struct plan plan;
    return shape->collective == COLL_reduce && plan_parse(text, &plan, NULL, 0) == 0 &&
           plan.algorithm->code->halves && plan.algorithm->code->halves(f);
}

/* Must this rival run beside the incumbent? */
static bool goes_beside(const struct learner *l, int rival) {
    return l->beside && !(l->arms[rival].halves && l->arms[l->incumbent].halves);
}

bool learn_start(struct learner *l, const struct team *team, struct account *account,
                 const struct shape *shape, bool in_reach, struct plan *plan) {
    char texts[most_arms][64];
    *l = (struct learner){.mode = learn_mode(), .account = account, .shape = *shape};
    if (l->mode == LEARN_OFF) return false;
    l->in_reach = in_reach;
    l->turn = -1;
    l->native = -1;
    l->favourite = -1;
    l->better = -1;
    l->beside = l->mode == LEARN_WATCH && shape->rounds;
    l->rest = first_calls;
    enum rivals which = RIVALS_all;
    if (l->mode == LEARN_WATCH) which = RIVALS_likely;
    else if (l->mode == LEARN_PAPER) which = RIVALS_orders;
    l->count = plan_rivals(&team->figures, shape, in_reach, plan->text, which, plan_room(team),
                           texts, most_arms);
    l->loose = is_loose(shape->collective);
    for (int a = 0; a < l->count; a++) {
        if (strcmp(texts[a], "native") == 0) l->native = a;
        if (strcmp(texts[a], plan->text) == 0) l->arms[a].plan = plan, l->incumbent = a;
        memcpy(l->arms[a].text, texts[a], sizeof *texts);
        l->arms[a].halves = halves(&team->figures, shape, texts[a]);
    }
    return l->count > 1 && l->arms[l->incumbent].plan == plan;
}

static double share(void) { return (double)option_number(OPTION_REGRET) / 100; }

/* ---- what the ratios say ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of the ratios, and its 95 % confidence interval by order statistics. With fewer than
 * nine ratios it is their whole range, which holds 95 % from six on. */
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

void learn_enthrone(struct learner *l, struct team *team, int arm) {
    struct plan *plan = l->arms[arm].plan;
    bool native = arm == l->native;
    note("%s of %zu bytes on %d ranks: %s instead of %s, as measured",
         collective_names[l->shape.collective], l->shape.bytes, team->p, plan->text,
         l->arms[l->incumbent].text);
    l->arms[arm].plan = plan_ready(team, &l->shape, plan->text, "measured",
                                   native ? "measured: the host MPI is faster here" : NULL);
    if (!l->arms[arm].plan) l->arms[arm].plan = plan;
    l->incumbent = arm;
    l->better = -1;
    l->settled = 0;
    learn_spoil(l);                    /* a pair with the old incumbent */
    for (int a = 0; a < l->count; a++) /* their ratios are to the old incumbent */
        l->arms[a].pairs = 0, memset(l->arms[a].way, 0, sizeof l->arms[a].way);
}

static void learn_judge(struct learner *l, struct team *team, int rival) {
    struct arm *arm = &l->arms[rival];
    bool beside = goes_beside(l, rival);
    double low, high;
    l->settled++;
    /* Look again soon. */
    if (arm->ratio[(arm->pairs - 1) % most_ratios] < better && !beside)
        l->settled = 0, arm->out = false;
    bool clear = l->loose && arm->way[0][0] < obvious * arm->way[0][1] &&
                 arm->way[1][0] < obvious * arm->way[1][1];
    if (arm->pairs < least_pairs && !clear) return;
    bool wins = arm->pairs >= least_pairs; /* only the latest count: conditions change */
    for (int i = 1; i <= least_pairs && wins; i++)
        wins = wins && arm->ratio[(arm->pairs - i) % most_ratios] < better;
    double ratio = middle(arm, &low, &high);
    if (beside && (wins || l->better == rival)) l->better = wins ? rival : -1;
    if (beside) return;
    if (wins || clear) learn_enthrone(l, team, rival);
    else if (ratio > worse && low > 1 && rival != l->native) arm->out = true;
}

/* ---- a pair: begin, run, tell, hear ---- */

/* May this arm be tried in this round? A slower one only now and then. */
static bool eligible(const struct learner *l, int a) {
    if (a == l->incumbent || l->arms[a].broken) return false;
    return !l->arms[a].out || l->rounds % out_rounds == 0;
}

/* A few calls of a loose arm tell nothing, as a rank may leave before its data have moved. Many
 * calls of a slow arm are dear. So pairs grow while the rival looks no worse, and only pairs of
 * full length are evidence. */
static void lengthen(const struct learner *l, int rival, struct pair *pair) {
    double fit = loose_seconds / l->arms[l->incumbent].seconds;
    if (fit > most_loose) fit = most_loose;
    else if (fit < first_loose) fit = first_loose;
    int full = (int)fit;
    int length = first_loose << 2 * l->arms[rival].grown;
    pair->calls = length < full ? length : full;
    pair->warm = pair->calls / 3 + 1;
    pair->look = length < full;
}

/* Seconds that ranks wait in a pair for those that come late, where else they would not: in the
 * first of the calls in which the rival runs beside the incumbent, and to sum the times. */
static double waiting(const struct learner *l, int rival) {
    return l->loose ? 2 * l->arms[rival].waited : 0;
}

/* Makes a pair with this rival. Returns how many calls to wait until the budget allows it. */
static double plan_pair(const struct learner *l, int rival, struct pair *pair) {
    double each = l->arms[l->incumbent].seconds, fit = stretch_seconds / each;
    bool look = l->arms[rival].seconds <= 0;
    *pair = (struct pair){.arm = {l->incumbent, rival}, .calls = 1, .look = look};
    if (!look && fit >= 1) pair->calls = fit > most_calls ? most_calls : (int)fit;
    if (!look && each <= long_call) pair->warm = 1;
    if (!look && l->loose) lengthen(l, rival, pair);
    if (l->arms[rival].first) pair->arm[0] = rival, pair->arm[1] = l->incumbent;
    double extra = (look ? supposed : l->arms[rival].seconds / each) - !goes_beside(l, rival);
    double cost = waiting(l, rival);
    if (extra > 0) cost += extra * each * (pair->calls + pair->warm);
    pair->cost = cost;
    double missing = (l->account->spent + cost - free_seconds) / share() - l->account->seconds;
    return missing > 0 ? missing / each + 1 : 0;
}

/* Is there a rival that was never tried? The budget goes to it before rivals known to be slower. */
static bool has_untried(const struct learner *l) {
    for (int a = 0; a < l->count; a++)
        if (l->arms[a].seconds <= 0 && eligible(l, a)) return true;
    return false;
}

/* Chooses the next pair, round-robin among the rivals. False: none now, and l->rest is set. */
static bool begin_pair(struct learner *l) {
    l->rounds++;
    if (l->mode == LEARN_PAPER) return paper_begin(l);
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
        else /* First the time of a call must be known. Only a plan with a barrier can sum it. */
            l->pair =
                (struct pair){.arm = {l->incumbent, l->incumbent == l->native ? a : l->incumbent},
                              .calls = 1,
                              .look = true};
        if (wait <= 0) return true;
        if (wait < least) least = wait;
    }
    /* Only slower arms are left; they are eligible again in a later round. */
    if (least == longest_rest) least = least_rest << 3;
    l->rest = (uint64_t)least;
    return false;
}

/* Has a call of this plan a way to sum the times? Over several nodes separate messages do it; if
 * rivals run beside the incumbent a barrier is added. */
static bool has_barrier(const struct learner *l, const struct team *team, const struct plan *plan) {
    return team->wire || l->beside || plan->algorithm->code->run != NULL;
}

/* The second arm of a pair pays for messages that the first left in flight: over TCP the second was
 * slower by a third, whichever it was. So the score is the ratio over the latest two pairs, one in
 * each order. 0: only one order has run so far. */
static double both_ways(struct arm *rival, const struct arm *incumbent, bool first) {
    rival->way[first][0] = rival->seconds;
    rival->way[first][1] = incumbent->seconds;
    rival->first = !first;
    if (rival->way[!first][1] <= 0) return 0;
    return (rival->way[0][0] + rival->way[1][0]) / (rival->way[0][1] + rival->way[1][1]);
}

/* The program's time is what counts, but differs more from call to call than that inside. */
static void settle_behind(const struct learner *l, struct pair *told) {
    int mine = told->arm[0] == l->incumbent ? 0 : 1;
    if (told->arm[mine] != l->incumbent || goes_beside(l, told->arm[!mine])) return;
    double ratio = told->elapsed[!mine] / told->elapsed[mine];
    if (ratio > longer && told->seconds[!mine] < ratio * told->seconds[mine])
        told->seconds[!mine] = ratio * told->seconds[mine];
}

/* seconds: of one call of this arm, just measured. */
static void take_time(struct learner *l, int a, double seconds) {
    struct arm *arm = &l->arms[a];
    double before = arm->seconds;
    arm->seconds = seconds > 1e-9 ? seconds : 1e-9;
    arm->tried_seconds += arm->seconds;
    arm->tried++;
    if (!l->loose || a != l->incumbent || before <= 0 || arm->seconds <= plainly_later * before)
        return;
    /* Ranks have begun to come late: another arm may be the faster one now. */
    for (int b = 0; b < l->count; b++) l->arms[b].out = false;
}

static void learn_hear(struct learner *l, struct team *team) {
    struct pair *told = &l->told;
    sums_read(team, l->sums);
    l->asked = false;
    for (int i = 0; i < 2; i++) {
        told->seconds[i] = 1e-9 * (double)l->sums[i] / (told->calls * (double)team->p);
        told->elapsed[i] = 1e-9 * (double)l->sums[2 + i] / (told->calls * (double)team->p);
    }
    if (l->loose && !told->look && l->mode != LEARN_PAPER) settle_behind(l, told);
    for (int i = 0; i < 2; i++) take_time(l, told->arm[i], told->seconds[i]);
    if (l->mode == LEARN_PAPER) {
        paper_hear(l, team);
        return;
    }
    if (told->arm[0] == told->arm[1]) return;
    int mine = told->arm[0] == l->incumbent ? 0 : 1;
    if (told->arm[mine] != l->incumbent) return; /* the incumbent has changed meanwhile */
    int other = told->arm[!mine];
    struct arm *rival = &l->arms[other];
    bool beside = goes_beside(l, other);
    double spared = beside ? 0 : l->arms[l->incumbent].seconds;
    double extra = (rival->seconds - spared) * (told->calls + told->warm);
    if (beside) rival->waited = told->elapsed[!mine] * told->calls;
    l->account->spent += (extra > 0 ? extra : 0) + waiting(l, other) - told->cost;
    double ratio = rival->seconds / l->arms[l->incumbent].seconds;
    /* The first call of a loose plan touches memory of its own: it says nothing of the next. */
    bool cold = l->loose && rival->tried == 1, hosts = other == l->native;
    if (told->look && ratio > hopeless && !cold && !hosts) rival->out = true;
    if (cold && !hosts && ratio > supposed)
        rival->seconds = supposed * l->arms[l->incumbent].seconds;
    if (l->loose && ratio <= worse && rival->grown < most_grown) rival->grown++;
    else if (l->loose && ratio > worse && rival->grown > 0) rival->grown--;
    uint64_t soon = (uint64_t)(told->calls + told->warm);
    if (ratio < plain && l->rest > soon && !beside &&
        has_barrier(l, team, l->arms[l->incumbent].plan))
        l->rest = soon;
    l->favourite = l->loose && ratio < obvious && !beside ? other : -1;
    if (l->favourite >= 0) l->rest = 0;
    if (told->look) return;
    ratio = both_ways(rival, &l->arms[l->incumbent], mine == 1);
    if (ratio <= 0) return;
    rival->ratio[rival->pairs++ % most_ratios] = ratio;
    if (rival->pairs >= 2 * most_ratios) rival->pairs -= most_ratios;
    learn_judge(l, team, other);
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

/* What pair.elapsed says of the arm whose calls are over. */
static double elapsed(const struct learner *l, int arm) {
    bool beside = arm != l->incumbent && goes_beside(l, arm);
    return beside ? l->arms[arm].plan->aside.waited : learn_clock() - l->pair.began;
}

/* The plan of the pair's next call. NULL: the pair is over, or an arm cannot run. */
static struct plan *pair_turn(struct learner *l, struct team *team) {
    struct pair *pair = &l->pair;
    int length = pair->calls + pair->warm, before = l->turn - 1;
    if (before >= 0 && before % length >= pair->warm) {
        struct plan *ran = l->arms[pair->arm[before / length]].plan;
        pair->seconds[before / length] += ran->timed_seconds;
        ran->timed = false;
    }
    if (l->turn > 0 && l->turn % length == 0)
        pair->elapsed[before / length] = elapsed(l, pair->arm[before / length]);
    if (l->turn % length == pair->warm) pair->began = learn_clock();
    if (l->turn == 2 * length) {
        l->turn = -1;
        l->told = *pair;
        l->due = true;
        l->rest = rest_after(l);
        return NULL;
    }
    int arm = pair->arm[l->turn / length];
    struct plan *plan = plan_of(l, team, arm);
    if (!plan) {
        l->turn = -1;
        return NULL;
    }
    plan->timed = l->turn++ % length >= pair->warm;
    struct plan *incumbent = l->arms[l->incumbent].plan;
    if (arm == l->incumbent || !goes_beside(l, arm)) return plan;
    plan->aside.call = (l->turn - 1) % length;
    plan->aside.calls = length;
    incumbent->beside = plan;
    return incumbent;
}

/* Between pairs the incumbent runs; *quiet calls need not ask until the next pair is due. */
static struct plan *rest_turn(struct learner *l, struct team *team, uint32_t *quiet) {
    struct plan *incumbent = l->arms[l->incumbent].plan;
    bool telling = l->asked || (l->due && has_barrier(l, team, incumbent));
    if (telling) return incumbent; /* the next call reads the sums */
    if (l->rest == 0 && begin_pair(l)) {
        l->turn = 0;
        l->account->spent += l->pair.cost; /* at once, so that no other class spends it too */
        struct plan *plan = pair_turn(l, team);
        if (plan) return plan;
    }
    *quiet = (uint32_t)l->rest;
    l->quiet = l->rest;
    l->rest = 0;
    return incumbent;
}

struct plan *learn_turn(struct learner *l, struct team *team, uint32_t *quiet) {
    *quiet = 0;
    l->account->seconds += (double)(1 + l->quiet) * l->arms[l->incumbent].seconds;
    l->quiet = 0;
    if (l->asked) learn_hear(l, team);
    struct plan *plan = l->turn >= 0 ? pair_turn(l, team) : NULL;
    if (!plan) plan = rest_turn(l, team, quiet);
    if (l->due && has_barrier(l, team, plan)) {
        const struct pair *told = &l->told;
        sums_add(team,
                 (uint64_t[sum_words]){
                     (uint64_t)(told->seconds[0] * 1e9), (uint64_t)(told->seconds[1] * 1e9),
                     (uint64_t)(told->elapsed[0] * 1e9), (uint64_t)(told->elapsed[1] * 1e9)},
                 l->sums);
        l->due = false;
        l->asked = true;
        bool brings_one = plan->algorithm->code->run && !plan->algorithm->code->loose;
        if (!brings_one && !team->wire) sync_all(team, 0); /* the plan has no barrier of its own */
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
