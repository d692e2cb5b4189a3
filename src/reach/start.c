/* SPDX-License-Identifier: BSD-3-Clause */
/* start - when mortar begins on a communicator. To set up a team costs as much as tens to thousands
 * of calls, and many communicators are used once or twice. So the host MPI runs a communicator's
 * first calls, until they have taken twice as long as a beginning costs (as in ski rental: whoever
 * stops then has lost at most half as much again). The longest of them does not count: in one of
 * them libraries make their connections. Ranks need no message to count their calls, because all
 * ranks of a communicator make the same ones. At certain counts they look: one allreduce compares
 * what the calls have taken, and all ranks decide alike.
 *
 * The last digits of a sum depend on the association, and so on who runs it. They must not depend
 * on time. So sums are counted apart, and mortar begins with them at a certain count. */
#include "reach/host.h"

#include "reach/birth.h"
#include "reach/reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Weight of the calls before the first look. */
enum { first_look = 8 };
/* Its growth from look to look: to what is expected to pay for the set-up, within limits. */
static const double least_growth = 1.5, most_growth = 4;
/* A team begins if on all ranks the calls have taken twice its cost, or on one rank 50 times. In
 * the first case the time is that of the calls, in the second perhaps the waiting for late ranks,
 * or of a root that does not wait; but then the set-up takes at most 2 % of the run time. */
static const int64_t surely = 2, perhaps = 50;
/* A beginning costs a set-up, and as much as so many calls: the first ones touch new pages of the
 * stage, and buffers move. Long calls pay for that later, and gain less. 16 ranks on 2 cores (EPYC,
 * 2026-11, Open MPI 4.1), difference to native with 0, 2 and 4, medians of 15 and of 9 runs in
 * turns: FFT class W in pencils, 45 ms inside, +16, +3, +4; whole programs of bench/programs:
 * density, 1276 ms, +42, +38, +11; solver, 967 ms, +25, +24, +7; planewave, 1085 ms, -198, -184,
 * -184. 64 ranks, FFT class A, 3631 ms: +360 with 0, -93 with 4. */
static const int64_t first_calls = 4;

/* Weight of the sums that are left to the host MPI: one for each, and one for each piece of its
 * bytes. Where many ranks share a processor fewer pay for a set-up: a sum gains 30 us of 45 with 16
 * ranks on 2 cores (Xeon, 2026-11, Open MPI 4.1), 350 of 410 with 64, and a set-up costs 4 and 16
 * ms, as much as 130 and 50 sums gain. The solver of bench/programs, with 601 sums, 1024 and 256
 * against native: 16 ranks -3 and -4 ms of 969, beside a busy program +58 and -956 of 3177, 64
 * ranks +33 and -27 of 2964. */
enum { early_sums = 1024, early_crowded = 256, sum_piece = 2048 };

HOT static uint64_t most_early(void) { return settings_say_crowded() ? early_crowded : early_sums; }

const char young_why[] = "the communicator has not yet paid for its set-up";

const char *start_meet(MPI_Comm comm, struct young *young) {
    int inter = 0;
    *young = (struct young){.next = first_look};
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_size(comm, &young->p);
    PMPI_Comm_rank(comm, &young->me);
    if (inter) return "an intercommunicator";
    if (young->p == 1) return "one rank";
    if (has_strangers(comm)) return "processes of another job";
    return settings_agree(comm, young->p, young->me);
}

/* Option START, as last read; UNREAD: it was not. */
enum { PAID, EARLY, FIRST, UNREAD };
static _Atomic int option = UNREAD;
static _Atomic bool forced;

HOT static int mode(void) {
    if (atomic_load_explicit(&forced, memory_order_relaxed)) return FIRST;
    int now = atomic_load_explicit(&option, memory_order_relaxed);
    if (now == UNREAD) atomic_store(&option, now = option_choice(OPTION_START, "paid|early|first"));
    return now;
}

void teams_begin_at_once(bool at_once) { atomic_store(&forced, at_once); }

void start_settings_changed(void) { atomic_store(&option, UNREAD); }

HOT bool start_at_once(void) { return mode() == FIRST; }

HOT bool start_due(const struct young *young) { return young->weight >= young->next; }

HOT bool start_goes_on(struct young *young, unsigned weight) {
    if (start_at_once() || start_due(young)) return false;
    young->weight += weight;
    return true;
}

void start_took(struct young *young, uint64_t ticks) {
    young->calls++;
    young->ticks += ticks;
    if (ticks > young->most) young->most = ticks;
}

HOT static uint64_t with(const struct early *early, size_t bytes) {
    return early->weight + 1 + bytes / sum_piece;
}

HOT bool start_sums(struct early *early, size_t bytes) {
    if (early->over) return true;
    early->weight = with(early, bytes);
    early->over = early->weight > most_early() || start_at_once();
    return early->over;
}

HOT bool start_leaves(struct early *early, size_t bytes) {
    if (early->over || with(early, bytes) > most_early() || start_at_once()) return false;
    early->weight = with(early, bytes);
    return true;
}

/* What the ranks compare: the maximum of each word. A value and its negative make a pair. */
enum { TOOK, NOT_TOOK, COST, NOT_CALL, PLACE, NOT_PLACE, SPARE, NOT_SPARE, LACKS, WORDS };

static void set_pair(int64_t words[WORDS], int which, int64_t value) {
    words[which] = value;
    words[which + 1] = -value;
}

/* Have all ranks the same value, other than 0? */
static bool are_alike(const int64_t words[WORDS], int which) {
    return words[which] == -words[which + 1] && words[which] != 0;
}

/* What all ranks must have alike for a kept team to serve again; 0: nothing kept. Where the MPI
 * library has refused a call on one rank only, the others have made one more, and what they sent in
 * it is still in the team's memory. Births may be neighbours. */
static int64_t kept_as(const struct team *spare) {
    return spare ? (int64_t)(hashed(spare->birth) ^ spare->calls) : 0;
}

/* The ranks that share the processors of a set-up. Oversubscribed, all of the node's do: most
 * programs use the other rows of a grid as they use this one. */
static int ranks_around(int p) {
    int here = launcher_local_ranks();
    return here > p && here > machine_online() ? here : p;
}

/* Seconds of one call so far, the longest left out. */
static double call_seconds(const struct young *young) {
    if (young->calls < 2) return 0;
    double ticks = (double)(young->ticks - young->most) / (young->calls - 1);
    return ticks / clock_ticks_per_second();
}

/* What a set-up and the first plans cost, per rank. At first half of what was measured on 2 cores
 * (Xeon, 2026-11, MORTAR_START=first: 3.3 ms with 8 ranks, 5.9 with 16, 33 with 64), because it can
 * be lost only once. Then the least time of a set-up in this process: others were disturbed, or
 * waited for late ranks. With the whole cost programs that end soon lose less and others gain less
 * (16 ranks on 2 cores, EPYC, medians of 15 and 19 runs in turns: FFT class W in pencils, of 44 ms,
 * 0 instead of +18; the solver of bench/programs, of 538 ms, +44 instead of +11). */
static _Atomic double seconds_per_rank = 0.25e-3;

static void start_timed(const struct team *team) {
    double each = team->setup_seconds / ranks_around(team->p);
    if (!team->why_native && each < seconds_per_rank) seconds_per_rank = each;
}

/* The same in all processes of a node, real or pretended. 0: it is not known. */
static int64_t place_of_this(void) {
    static _Atomic uint64_t place;
    int ranks = 0, world = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    if (place == 0) place = machine_place();
    int pretended = place ? places_pretended(ranks, world) : -EINVAL;
    if (pretended == -EINVAL) return 0;
    return (int64_t)((place ^ hashed((uint64_t)(pretended + 1))) >> 2);
}

/* Nanoseconds. The rank whose calls are shortest says how long they are: others wait in them. */
static int64_t cost_of(const int64_t words[WORDS]) {
    return words[COST] + first_calls * -words[NOT_CALL];
}

/* Did the young communicator's calls take long enough? */
static bool pays(const int64_t words[WORDS]) {
    if (mode() != PAID) return true;
    int64_t least = -words[NOT_TOOK], most = words[TOOK], cost = cost_of(words);
    return are_alike(words, SPARE) || least >= surely * cost || most >= perhaps * cost;
}

/* The weight at which the ranks look again; the same on all of them. */
static unsigned next_look(unsigned weight, const int64_t words[WORDS]) {
    double growth = (double)(surely * cost_of(words)) / (double)-words[NOT_TOOK];
    if (growth < least_growth) growth = least_growth;
    if (growth > most_growth) growth = most_growth;
    return (unsigned)(growth * weight) + 1;
}

static struct team *start_anew(const struct young *young) {
    struct team *team = calloc(1, sizeof *team);
    if (!team) return NULL;
    team->p = young->p;
    team->me = young->me;
    team->figures = figures_of_node(team->p);
    return team;
}

struct team *start_native(const struct young *young, const char *why) {
    struct team *team = start_anew(young);
    if (team) team->why_native = why;
    return team;
}

/* Frees what start_anew and birth_room gave. */
static void start_drop(struct team *team, struct card *cards) {
    free(cards);
    if (team) team_release(team);
    free(team);
}

/* A team takes the place of a young communicator. */
static struct team *start_follow(struct team *team, const struct young *young, bool at_once) {
    team->early = young->early;
    if (at_once || mode() != PAID) team->early.over = true;
    return team;
}

struct team *start_look(struct young *young, MPI_Comm comm, bool at_once) {
    int64_t mine[WORDS], all[WORDS];
    struct team *team = start_anew(young);
    struct card *cards = team ? birth_room(team) : NULL;
    int *world = spare_ranks(comm, young->p);
    struct team *spare = spare_take(world, young->p, young->me);
    young->group = spare_group(world, young->p);
    uint64_t ticks = young->ticks - young->most + spare_debt(young->group);
    double took = (double)ticks / clock_ticks_per_second();
    free(world);
    set_pair(mine, TOOK, (int64_t)(1e9 * took) + 1);
    mine[COST] = (int64_t)(1e9 * seconds_per_rank * ranks_around(young->p));
    mine[NOT_CALL] = -(int64_t)(1e9 * call_seconds(young));
    set_pair(mine, PLACE, place_of_this());
    set_pair(mine, SPARE, kept_as(spare));
    mine[LACKS] = !cards;
    bool heard = host_combine(mine, all, WORDS, MPI_INT64_T, MPI_MAX, comm) == MPI_SUCCESS;
    const char *why = heard ? NULL : "the MPI library reports an error";
    if (heard && all[LACKS]) why = "out of memory";
    bool begins = !why && (at_once || pays(all));
    if (heard) young->next = next_look(young->weight, all);
    bool kept = begins && are_alike(all, SPARE);
    if (spare && !kept) spare_back(spare);
    if (begins && !kept) {
        team_build(team, comm, cards, are_alike(all, PLACE));
        start_timed(team);
        return start_follow(team, young, at_once);
    }
    start_drop(team, cards);
    if (!why) return kept ? start_follow(spare, young, at_once) : NULL;
    team = start_native(young, why); /* on all ranks; or the communicator is broken */
    young->left = !team;
    return team;
}
