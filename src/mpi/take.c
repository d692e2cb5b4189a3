/* SPDX-License-Identifier: BSD-3-Clause */
/* take - the life of a call: reentry guard, arguments, team, shape, plan; then its collective's
 * family or the host MPI runs it. Calls that look like earlier ones take a shorter way, known.c. */
#define _GNU_SOURCE
#include "mpi/fresh.h"
#include "mpi/held.h"
#include "mpi/look.h"
#include "mpi/verify.h"

#include <dlfcn.h>

static const struct family *const families[COLLECTIVES] = {
#define COLLECTIVE(name, symbol, sent, received, more, family, about)                              \
    [COLL_##name] = &family_##family,
#include "coll/collectives.h"
#undef COLLECTIVE
};

HOT static void count(struct team *team, struct plan *plan, size_t bytes, double start) {
    plan->tally.calls++;
    plan->tally.bytes += bytes;
    if (start <= 0) return;
    double took = clock_seconds() - start;
    if (plan->timed) plan->timed_seconds = took;
    if (!report_wanted()) return;
    plan->tally.seconds += took;
    struct team *near = team->node ? team->node : team;
    if (plan->algorithm->code->run) {
        tally_waits(&plan->tally, team);
        lateness_add(near);
    }
    waits_end(near);
}

static void count_traffic(struct traffic *sum, const struct traffic *before,
                          const struct traffic *after) {
    sum->messages += after->messages - before->messages;
    sum->bytes += after->bytes - before->bytes;
    sum->far_messages += after->far_messages - before->far_messages;
    sum->far_bytes += after->far_bytes - before->far_bytes;
}

/* ---- what other ranks of the node may read, see reach/ledger.c ---- */

HOT static struct ledger_entry entry_of_call(const struct common *common,
                                             const struct shape *shape) {
    struct ledger_entry entry = {.collective = (unsigned)common->collective & 31};
    if (!shape->unsized) entry.size_class = (unsigned)class_of(shape->bytes) & 127;
    if (among(common->collective, ROOTED | BIT(reduce)))
        entry.root = (unsigned)common->root & 0xfffff;
    return entry;
}

/* ---- young communicators: see reach/start.c ---- */

/* How much a call counts. One that moves data between all ranks has mostly more of them. */
static inline unsigned weight_of(enum collective collective) {
    return among(collective, ALLTOALLS | NEIGHBORS) ? 4 : 1;
}

/* Does the host MPI still run this sum on a communicator that mortar serves? */
HOT static bool is_early(const struct common *common, struct met met) {
    if (!common->rounds || (met.team && met.team->why_native)) return false;
    return !start_sums(met.team ? &met.team->early : &met.young->early, common->bytes);
}

/* Is MORTAR_OFF known to be the same on all ranks, and nobody wants to hear of such calls? */
HOT static bool is_off(enum collective collective) {
    return plan_off(collective) && settings_are_alike() && !report_wanted();
}

/* The team that a young communicator gets before this call; NULL: none yet. A sum that mortar runs
 * needs one. An early one, which mortar would not run on a team either, pays for none. */
static struct team *grown(struct young *young, const struct common *common, bool early) {
    if (early) return NULL;
    if (common->rounds) return team_of(common->comm);
    return young_counts(young, common->comm, weight_of(common->collective));
}

/* Runs a call of a young communicator. why, bytes: for the report. Returns what MPI returns. */
static int run_native(const struct request *r, int p, const char *why, size_t bytes,
                      uint64_t *ticks) {
    uint64_t start = clock_ticks();
    int error = r->native(r);
    *ticks = clock_ticks() - start;
    const struct shape shape = {.collective = r->collective, .bytes = bytes};
    if (report_wanted()) young_called(&shape, p, why, (double)*ticks / clock_ticks_per_second());
    return error;
}

/* pays: the call counts towards a team. */
static struct answer run_young(const struct request *r, struct young *young, bool pays) {
    uint64_t ticks;
    int error = run_native(r, young->p, young_why, 0, &ticks);
    if (pays) start_took(young, ticks);
    return returns(error);
}

/* Does the host MPI still run this call, and was one like it examined? Then it counts, and dispatch
 * would do no more. */
HOT static bool comes_again(const struct request *r, struct young *young, struct seen *seen) {
    if (young->doubt.what || plan_off(r->collective) || report_wanted()) return false;
    if (!seen_find(r, young, seen)) return false;
    if (seen->rounds) return start_leaves(&young->early, seen->bytes);
    return start_goes_on(young, weight_of(r->collective));
}

HOT static int run_seen(const struct request *r, struct young *young, const struct seen *seen) {
    return seen->rounds ? r->native(r) : run_young(r, young, true).error;
}

static struct answer run_off(const struct request *r, const struct young *young, size_t bytes) {
    uint64_t ticks;
    return returns(run_native(r, young->p, plan_off_why, bytes, &ticks));
}

/* ---- the life of a call ---- */

/* From now on the call can be left, see doubt.c. */
HOT static inline void inside_at(struct inside *here, const struct request *r, struct met met) {
    here->request = r;
    here->team = met.team;
    here->doubt = met.team ? &met.team->doubt : &met.young->doubt;
}

/* Runs a call that is planned. known: it was not examined. */
HOT static struct answer carry_out(const struct request *r, struct team *team, struct plan *plan,
                                   const struct shape *shape, struct known *known) {
    const struct family *family = families[r->collective];
    if (plan->beside) run_beside(r, team, family, plan, shape);
    struct verification verification;
    bool verified = verify_wanted() && verify_begin(&verification, r, team, plan, shape);
    struct traffic before = team->wire ? *team->wire->traffic : (struct traffic){0};
    double start = plan->timed || report_wanted() ? clock_seconds() : 0;
    struct team *near = team->node ? team->node : team;
    if (report_wanted()) waits_begin(near, start);
    struct answer answer;
    if (!plan->algorithm->code->run) answer = returns(r->native(r));
    else if (known && known_suits(known, plan)) answer = known_run(known, team, r, &plan);
    else answer = family->run(r, team, &plan, shape);
    if (team->wire) count_traffic(&plan->tally.traffic, &before, team->wire->traffic);
    count(team, plan, shape->bytes, start);
    if (plan->algorithm->code->run) call_over(team, shape);
    if (verified) answer = verify_end(&verification, team, plan, answer);
    if (answer.error) team->failed = true;
    return answer;
}

/* *alone: this rank's MPI library refuses the arguments; for the other ranks, and for the team,
 * there was no call. */
HOT __attribute__((noinline)) static struct answer dispatch(const struct request *r, struct met met,
                                                            struct inside *here, bool *alone) {
    const struct family *family = families[r->collective];
    struct common common = {
        .collective = r->collective, .comm = r->comm, .root = r->root, .op = r->op};
    struct standing standing = {0};
    const bool is_new = !met.team && !met.young;
    int inter = 0;
    *alone = false;
    if (is_new) {
        inter = -1;
        int error = PMPI_Comm_test_inter(r->comm, &inter);
        if (inter < 0) return returns(error); /* no communicator: its handler was called */
    }
    if (!inter) *alone = is_refused(r, met, &standing);
    if (*alone) return returns(MPI_SUCCESS);
    if (is_new) met = comm_met(r->comm);
    if (!met.team && !met.young) return returns(r->native(r));
    struct team *team = met.team;
    inside_at(here, r, met);
    if (here->doubt->what) return given_up(r, here->doubt);
    struct seen seen;
    if (is_new && met.young && comes_again(r, met.young, &seen))
        return returns(run_seen(r, met.young, &seen));
    known_examines();
    family->look(r, &standing, &common);
    if (common.foreign) return returns(r->native(r));
    bool off = plan_off(r->collective); /* all ranks have met, so they have the same settings */
    bool early = !off && is_early(&common, met);
    if (!team) {
        if (off) return run_off(r, met.young, common.bytes);
        team = grown(met.young, &common, early);
        if (!team) {
            seen_note(r, met.young, (struct seen){common.bytes, common.rounds});
            return run_young(r, met.young, !early);
        }
        inside_at(here, r, (struct met){.team = team});
    }
    if (team->wire && family->tell) family->tell(r, &standing, team);
    struct shape shape = {
        .collective = r->collective, .bytes = common.bytes, .rounds = common.rounds};
    shape.unsized = among(r->collective, UNSIZED);
    if (!team->why_native && family->agree && !family->agree(&common, team, &shape))
        return returns(r->native(r));
    struct ledger_entry entry = entry_of_call(&common, &shape);
    ledger_write(team->ledger, ++team->calls, entry);
    struct plan *plan = early ? plan_early(team, &shape) : plan_for(team, &shape);
    entry.plan = plan->tag;
    ledger_write(team->ledger, team->calls, entry);
    if (!early) known_note(r, team, family, plan, &shape, entry);
    return carry_out(r, team, plan, &shape, NULL);
}

/* A known call, if the planner wants to be asked. */
HOT static struct answer dispatch_known(const struct request *r, struct team *team,
                                        struct known *known) {
    struct ledger_entry entry;
    const struct shape *shape = known_shape(known, &entry);
    ledger_write(team->ledger, ++team->calls, entry);
    struct plan *plan = plan_for(team, shape);
    entry.plan = plan->tag;
    ledger_write(team->ledger, team->calls, entry);
    known_planned(known, team, plan, entry);
    return carry_out(r, team, plan, shape, known);
}

/* ---- in and out ---- */

/* An MPI library may implement one call by another: calls from inside are native. A call does not
 * always return: an error handler or a user's operation may leave it by longjmp, and its mark stays
 * behind. The stack grows downwards, so the mark of a running call lies at a higher address than
 * the frame that finds it. A mark at a lower address, or with a broken seal, belongs to a call that
 * is over.
 *
 * A nested call always finds the mark above itself and whole, so it is never mistaken for an
 * outermost one. The reverse can happen: a stale mark looks whole if nobody has overwritten that
 * part of the stack, which a large array may cover. So only a call that comes from the MPI library
 * is a nested one. Others are made after such a jump, or by an error handler, whose calls are the
 * program's. A library that calls collectives outside of them may yet be native by mistake. To make
 * this rare, error handlers are called without a mark if possible. Calls with refused arguments
 * reach the MPI library without one, and mortar raises its own errors after leaving. */
enum { deepest = 1 << 20 };

static inline uintptr_t seal_of(const struct inside *there) {
    return (uintptr_t)there ^ (uintptr_t)0x9e3779b97f4a7c15u;
}

HOT static inline struct inside *inside_on(struct this_thread *thread) {
    struct inside *there = thread->inside;
    if (!there) return NULL;
    uintptr_t above = (uintptr_t)there - (uintptr_t)__builtin_frame_address(0);
    if (above < deepest && there->seal == seal_of(there)) return there;
    thread->inside = NULL;
    return NULL;
}

static __attribute__((noinline, cold)) bool is_of_library(const void *address) {
    Dl_info its, librarys;
    return dladdr(address, &its) && dladdr((void *)(uintptr_t)host.init, &librarys) &&
           its.dli_fbase == librarys.dli_fbase;
}

HOT static inline bool is_nested(const struct request *r, struct this_thread *thread) {
    return inside_on(thread) && is_of_library(r->caller);
}

HOT static inline void begin_on(struct this_thread *thread, struct inside *here) {
    here->doubt = NULL;
    here->outer = thread->inside;
    here->seal = seal_of(here);
    here->thread = thread;
    thread->inside = here;
}

struct inside *inside_now(void) { return inside_on(own_thread()); }

void inside_begin(struct inside *here) { begin_on(own_thread(), here); }

HOT void inside_end(struct inside *here) {
    if (here->seal == 0) return;
    here->seal = 0;
    if (here->thread->inside == here) here->thread->inside = here->outer;
}

/* What is known of a call. */
struct found {
    struct met met;
    struct known *known;
    enum known_way way;
    struct single_state state; /* SINGLE: it has begun */
};

/* Examines and runs the call, or runs a known one, with a way out for a rank that waits in vain. */
HOT __attribute__((noinline)) static struct answer
venture(const struct request *r, struct found *found, struct inside *here, bool *alone) {
    struct team *team = found->met.team;
    struct known *known = found->known;
    if (!IS_BACK(here->way_out)) {
        if (found->way == EXAMINE) return dispatch(r, found->met, here, alone);
        inside_at(here, r, (struct met){.team = team});
        if (found->way == REPEAT) return known_repeat(known, team, r);
        if (found->way == SINGLE) return known_single_on(known, team, r, &found->state);
        return dispatch_known(r, team, known);
    }
    *alone = false;
    return given_up(r, here->doubt);
}

HOT __attribute__((noinline)) static int take_inside(const struct request *r, struct found *found) {
    __attribute__((cleanup(inside_end))) struct inside here; /* an exception ends it too */
    inside_begin(&here);
    bool alone = false;
    struct answer answer = venture(r, found, &here, &alone);
    inside_end(&here);
    if (alone) return r->native(r);
    if (answer.raise) PMPI_Comm_call_errhandler(r->comm, answer.error);
    return answer.error;
}

/* As take_inside, of a known call that the host MPI runs. */
SHORT_WAY __attribute__((noinline)) static int
hand_on(const struct request *r, struct this_thread *thread, struct team *team,
        const struct known *known) {
    __attribute__((cleanup(inside_end))) struct inside here;
    begin_on(thread, &here);
    return known_hand_on(known, team, r);
}

/* The same of a call that comes_again. */
HOT static int hand_on_seen(const struct request *r, struct young *young, const struct seen *seen) {
    __attribute__((cleanup(inside_end))) struct inside here;
    inside_begin(&here);
    return run_seen(r, young, seen);
}

static int take_enter(const struct request *r);

HOT __attribute__((noinline)) static int examine(const struct request *r, struct found *found) {
    struct team *team = found->met.team;
    struct seen seen;
    int error;
    if (is_off(r->collective)) return r->native(r);
    struct young *young = team ? NULL : found->met.young;
    if (young && comes_again(r, young, &seen)) return hand_on_seen(r, young, &seen);
    if (team && may_be_fresh(r) && fresh_run(r, team, take_enter, &error)) return error;
    return take_inside(r, found);
}

/* A call of a single barrier is mostly over before this thread has to be marked. */
SHORT_WAY static int take_enter(const struct request *r) {
    struct this_thread *thread = own_thread();
    if (r->comm == MPI_COMM_NULL || is_nested(r, thread)) return r->native(r);
    struct found found;
    found.met = (struct met){.team = team_recent(thread, r->comm)};
    if (!found.met.team) found.met = comm_known(r->comm); /* any communicator's end voids those */
    struct team *team = found.met.team;
    found.way = team ? known_find(team, r, &found.known) : EXAMINE;
    if (found.way == HAND_ON) return hand_on(r, thread, team, found.known);
    if (found.way == SINGLE && known_single(found.known, team, r, &found.state)) return MPI_SUCCESS;
    return found.way == EXAMINE ? examine(r, &found) : take_inside(r, &found);
}

static int take_narrowed(const struct request *r) {
    return r->large && !host.large ? narrowed(r, take_enter) : take_enter(r);
}

SHORT_WAY int take(const struct request *r) {
    if (may_lose(r)) return held_run(r, take_narrowed);
    return r->large ? take_narrowed(r) : take_enter(r);
}
