/* SPDX-License-Identifier: BSD-3-Clause */
/* take - the life of a call: reentry guard, arguments, team, shape, plan; then its collective's
 * family or the host MPI runs it. A native call may take only 100 ns. So for each collective a team
 * remembers the last call that went to the host MPI. The next call that looks the same goes there
 * at once, while the planner allows it to go unasked (plan_quiet). */
#include "mpi/calls.h"

#include <stdlib.h>

/* A remembered call: one that matches it has the same shape, and so the same plan. */
struct shortcut {
    struct plan *plan; /* NULL: nothing is remembered */
    MPI_Datatype type;
    MPI_Datatype predefined; /* a type found to be predefined, whose handle is never reused */
    MPI_Op op;
    MPI_Count count; /* of the half, or the sum of its counts */
    int root;
    int counts; /* how many counts were added up; 0: count is the half's own */
    bool large;
    bool sent;        /* the send half tells the size, not the receive half */
    uint32_t changes; /* team_changes when it was remembered */
    /* Further calls that need not ask the planner; shared by all threads and calls of the class. */
    uint32_t *quiet;
    struct last_call *last;
    uint64_t told; /* last->bytes when it was remembered */
    size_t bytes;
    struct ledger_entry entry;
};

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
    if (plan->algorithm->code->run) tally_waits(&plan->tally, team);
    waits_end(team->node ? team->node : team);
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

/* ---- shortcuts ---- */

HOT static MPI_Count sum_of(const void *counts, int width, int entries) {
    MPI_Count sum = 0;
    for (int i = 0; counts && i < entries; i++) sum += (MPI_Count)entry_of(counts, width, i);
    return sum;
}

/* The ranks' estimate of the size holds for `left` more calls, then all ranks renew it. That is
 * also so if the estimate is 0 bytes but was made (`sure`). Without an estimate nothing expires. */
HOT static inline bool still_counts(const struct last_call *last) {
    return last->left > 0 || (last->bytes == 0 && last->sure == 0);
}

HOT static inline bool is_known(const struct shortcut *s, const struct request *r) {
    if (!s->plan) return false;
    const struct half *half = s->sent ? &r->send : &r->recv;
    MPI_Count count = s->counts ? sum_of(half->counts, entry_width(r), s->counts) : half->count;
    return s->count == count && s->type == half->type && s->op == r->op && s->root == r->root &&
           s->large == r->large && s->changes == team_changes && s->last->bytes == s->told &&
           still_counts(s->last) && *s->quiet > 0;
}

HOT static int run_known(const struct shortcut *s, struct team *team, const struct request *r) {
    ledger_write(team->ledger, ++team->calls, s->entry);
    --*s->quiet;
    if (s->last->left > 0) s->last->left--;
    s->plan->tally.calls++;
    s->plan->tally.bytes += s->bytes;
    return r->native(r);
}

static bool is_told_by_send(const struct request *r, struct team *team) {
    if (r->collective == COLL_gather) return team->me != r->root;
    if (r->collective == COLL_scatter) return team->me == r->root;
    return among(r->collective, NEIGHBORS) && neighbours_of(r->comm, team, r->collective)->outs > 0;
}

/* NULL: no memory. */
static struct shortcut *shortcut_of(struct team *team, enum collective collective) {
    struct shortcut *shortcuts = team->shortcuts;
    if (!shortcuts) team->shortcuts = shortcuts = calloc(COLLECTIVES, sizeof *shortcuts);
    return shortcuts ? &shortcuts[collective] : NULL;
}

HOT static void forget(const struct request *r, struct team *team) {
    struct shortcut *shortcuts = team->shortcuts;
    if (shortcuts) shortcuts[r->collective].plan = NULL;
}

/* After plan_for has chosen the host MPI. A later call that matches is not examined further, so
 * what is compared must be the same on all ranks. */
static void take_remember(const struct request *r, struct team *team, struct plan *plan,
                          const struct shape *shape, struct ledger_entry entry) {
    struct shortcut *s = report_wanted() ? NULL : shortcut_of(team, r->collective);
    uint32_t *quiet = s ? plan_quiet(team, shape) : NULL;
    bool sent = quiet && !team->why_native && is_told_by_send(r, team);
    const struct half *half = sent ? &r->send : &r->recv;
    if (!quiet || *quiet == 0 ||
        (!shape->unsized && half->type != s->predefined && !type_is_predefined(half->type))) {
        forget(r, team);
        return;
    }
    bool summed = among(r->collective, BIT(allgatherv) | BIT(reduce_scatter));
    struct last_call *last = &team->last_calls[r->collective];
    MPI_Datatype predefined = shape->unsized ? s->predefined : half->type;
    int counts = summed ? team->p : 0;
    MPI_Count count = summed ? sum_of(half->counts, entry_width(r), counts) : half->count;
    *s = (struct shortcut){.plan = plan,
                           .type = half->type,
                           .predefined = predefined,
                           .op = r->op,
                           .count = count,
                           .root = r->root,
                           .counts = counts,
                           .large = r->large,
                           .sent = sent,
                           .changes = atomic_load_explicit(&team_changes, memory_order_acquire),
                           .quiet = quiet,
                           .last = last,
                           .told = last->bytes,
                           .bytes = shape->bytes * (size_t)team->p,
                           .entry = entry};
}

/* ---- young communicators: see reach/start.c ---- */

/* How much a call counts. One that moves data between all ranks has mostly more of them. */
static inline unsigned weight_of(enum collective collective) {
    return among(collective, ALLTOALLS | NEIGHBORS) ? 4 : 1;
}

/* Does the host MPI still run this sum on a communicator that mortar serves? If not, the team is no
 * longer young. */
HOT static bool is_early(const struct common *common, struct team **team) {
    bool served = (*team)->start.young || !(*team)->why_native;
    if (!common->rounds || !served) return false;
    if (!start_sums(*team, common->bytes)) return true;
    if ((*team)->start.young) *team = team_of(common->comm);
    return false;
}

/* early: a sum, which mortar would not run on a grown team either; so it pays for none. */
static struct answer run_young(const struct request *r, struct team *team, bool early) {
    struct shape unsized = {.collective = r->collective, .unsized = true};
    struct plan *plan = report_wanted() ? plan_for(team, &unsized) : NULL;
    uint64_t start = clock_ticks();
    int error = r->native(r);
    uint64_t took = clock_ticks() - start;
    if (!early) team->start.ticks += took;
    if (plan) {
        plan->tally.calls++;
        plan->tally.seconds += (double)took / clock_ticks_per_second();
    }
    return returns(error);
}

/* ---- the life of a call ---- */

/* *alone: this rank's MPI library refuses the arguments; for the other ranks, and for the team,
 * there was no call. */
HOT __attribute__((noinline)) static struct answer dispatch(const struct request *r,
                                                            struct inside *here, bool *alone) {
    const struct family *family = families[r->collective];
    struct common common = {
        .collective = r->collective, .comm = r->comm, .root = r->root, .op = r->op};
    struct standing standing;
    struct team *team = team_known(r->comm);
    *alone = is_refused(r, team, &standing);
    if (*alone) return returns(MPI_SUCCESS);
    if (!team) team = team_met(r->comm);
    if (!team) return returns(r->native(r));
    family->look(r, &standing, &common);
    if (common.foreign) return returns(r->native(r));
    bool off = plan_off(r->collective); /* all ranks have met, so they have the same settings */
    bool early = !off && is_early(&common, &team);
    if (team->start.young && !off && !early)
        team = team_counts(team, r->comm, weight_of(r->collective));
    if (team->start.young && !off) return run_young(r, team, early);
    if (team->doubt.what) return given_up(r, &team->doubt);
    here->request = r;
    here->team = team;
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
    if (plan->beside) run_beside(r, team, family, plan, &shape);
    if (early || plan->algorithm->code->run) forget(r, team);
    else take_remember(r, team, plan, &shape, entry);
    struct traffic before = team->wire ? *team->wire->traffic : (struct traffic){0};
    double start = plan->timed || report_wanted() ? clock_seconds() : 0;
    struct team *near = team->node ? team->node : team;
    if (report_wanted()) waits_begin(near, start);
    struct answer answer =
        plan->algorithm->code->run ? family->run(r, team, &plan, &shape) : returns(r->native(r));
    if (team->wire) count_traffic(&plan->tally.traffic, &before, team->wire->traffic);
    count(team, plan, shape.bytes * (size_t)team->p, start);
    if (answer.error) team->failed = true;
    return answer;
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
 * part of the stack. Then this call is native by mistake. To make this rare, error handlers are
 * called without a mark if possible. Calls with refused arguments reach the MPI library without
 * one, and mortar raises its own errors after leaving. */
enum { deepest = 1 << 20 };

static inline uintptr_t seal_of(const struct inside *there) {
    return (uintptr_t)there ^ (uintptr_t)0x9e3779b97f4a7c15u;
}

HOT struct inside *inside_now(void) {
    struct inside *there = this_thread.inside;
    if (!there) return NULL;
    uintptr_t above = (uintptr_t)there - (uintptr_t)__builtin_frame_address(0);
    if (above < deepest && there->seal == seal_of(there)) return there;
    this_thread.inside = NULL;
    return NULL;
}

HOT void inside_begin(struct inside *here) {
    here->team = NULL;
    here->seal = seal_of(here);
    this_thread.inside = here;
}

HOT void inside_end(struct inside *here) {
    if (here->seal == 0) return;
    here->seal = 0;
    if (this_thread.inside == here) this_thread.inside = NULL;
}

/* Runs dispatch with a way out for a rank that waits in vain. */
HOT __attribute__((noinline)) static struct answer venture(const struct request *r,
                                                           struct inside *here, bool *alone) {
    if (_setjmp(here->way_out) == 0) return dispatch(r, here, alone);
    *alone = false;
    return given_up(r, &here->team->doubt);
}

HOT static int take_enter(const struct request *r) {
    if (r->comm == MPI_COMM_NULL || inside_now()) return r->native(r);
    __attribute__((cleanup(inside_end))) struct inside here; /* an exception ends it too */
    inside_begin(&here);
    struct team *team = team_recent(r->comm);
    const struct shortcut *shortcuts = team ? team->shortcuts : NULL;
    bool known = shortcuts && is_known(&shortcuts[r->collective], r), alone = false;
    struct answer answer =
        known ? returns(run_known(&shortcuts[r->collective], team, r)) : venture(r, &here, &alone);
    inside_end(&here);
    if (alone) return r->native(r);
    if (answer.raise) PMPI_Comm_call_errhandler(r->comm, answer.error);
    return answer.error;
}

HOT int take(const struct request *r) {
    return r->large && !host.large ? narrowed(r, take_enter) : take_enter(r);
}
