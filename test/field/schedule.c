/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.c - what happens in which order, the same on all ranks of the world: runs of one
 * collective, collectives and messages that stay under way while others run, communicators that
 * come and go. The order of events is one for all communicators, so no two ranks can wait for each
 * other in a circle. */
#include "field.h"

enum { PENDING = 6 };
static _Thread_local struct pending {
    bool used, is_op;
    long due; /* this rank finishes it before this event, each rank at another */
    struct op op;
    struct talk talk;
} pending[PENDING];
static _Thread_local long event, call;

static bool skipped(enum kind kind, enum how how) {
    return call < settings.first || !(settings.only >> kind & 1) || !(settings.hows >> how & 1);
}

static void finish(struct pending *one) {
    if (one->is_op) {
        at_work(one->op.call, kind_names[one->op.kind], one->op.comm, "waiting for it");
        MPI_Wait(&one->op.request, MPI_STATUS_IGNORE);
        op_check(&one->op);
        op_end(&one->op);
    } else {
        talk_finish(&one->talk);
    }
    one->used = false;
}

/* Those that are due, or all of a communicator, or all. */
static void finish_some(const struct comm *comm, bool all) {
    for (int i = 0; i < PENDING; i++) {
        struct pending *one = &pending[i];
        if (one->used &&
            (all || one->due <= event || (one->is_op ? one->op.comm : one->talk.comm) == comm))
            finish(one);
    }
}

static struct pending *place_for(struct dice *own) {
    for (int i = 0; i < PENDING; i++)
        if (!pending[i].used) {
            pending[i].used = true;
            pending[i].due = event + 1 + below(own, 6);
            return &pending[i];
        }
    struct pending *oldest = &pending[below(own, PENDING)];
    finish(oldest);
    oldest->used = true, oldest->due = event + 1 + below(own, 6);
    return oldest;
}

static struct comm *draw_comm(struct dice *dice, bool neighbours) {
    int found = -1;
    if (!neighbours && chance(dice, 30)) return &comms[0];
    for (int i = 0, seen = 0; i < COMMS; i++)
        if (comms[i].alive && (!neighbours || has_neighbours(&comms[i])) && !below(dice, ++seen))
            found = i;
    return found < 0 ? NULL : &comms[found];
}

static enum kind draw_kind(struct dice *dice) {
    static const int weights[COLLECTIVES] = {
        [Barrier] = 2, [Bcast] = 6, [Allreduce] = 5, [Reduce] = 4};
    int all = 0;
    for (int k = 0; k < COLLECTIVES; k++) all += weights[k] ? weights[k] : 3;
    int luck = below(dice, all), kind = 0;
    while ((luck -= weights[kind] ? weights[kind] : 3) >= 0) kind++;
    return (enum kind)kind;
}

static bool drawn(struct dice *dice, struct comm **comm, enum kind *kind) {
    *kind = draw_kind(dice);
    *comm = draw_comm(dice, *kind >= Neighbor_allgather && *kind <= Neighbor_alltoallw);
    return *comm != NULL;
}

static bool absent(const struct comm *comm, enum kind kind) {
    return comm->handle == MPI_COMM_NULL || quirk(kind, BROKEN) ||
           (comm->size == 1 && quirk(kind, ONE_RANK));
}

/* A run of one collective, as in a loop: with the same arguments, or with other ones, roots and
 * sizes of the same class. */
static void series(struct dice *dice) {
    struct comm *comm;
    enum kind kind;
    bool any = drawn(dice, &comm, &kind), same = chance(dice, 40);
    int repeats = 1 << below(dice, 6), power = below(dice, settings.largest),
        pace = below(dice, 10), spread = below(dice, 4);
    repeats += below(dice, repeats);
    repeats = repeats > 40 ? 40 : repeats;
    bool ordinary = chance(dice, 70);
    enum place place = ordinary ? HEAP : (enum place)below(dice, PLACES);
    uint64_t salt = roll(dice);
    struct op op;
    bool open = false;
    long first = call;
    for (int i = 0; any && i < repeats; i++, call++) {
        if (skipped(kind, BLOCKING) || absent(comm, kind)) continue;
        struct dice own = {mix(salt + (uint64_t)i, (uint64_t)world_rank)},
                    each = {mix(salt, (uint64_t)i)};
        int other = power + (spread == 3 ? below(&each, 3) : 0);
        if (!open) op_plan(&op, kind, BLOCKING, comm, same ? first : call, other, place);
        open = true;
        op_fill(&op, call);
        if (pace > 6 ? chance(&own, 25)
                     : pace == 6 && (int)(mix(salt, 7) + (uint64_t)i) % comm->size == comm->me)
            pause_for(&own);
        at_work(call, kind_names[op.kind], comm, "");
        op_call(&op);
        op_check(&op);
        tally.calls++;
        if (!same || i == repeats - 1) op_end(&op), open = false;
    }
    if (open) op_end(&op);
}

static void start_one(struct dice *dice) {
    struct comm *comm;
    enum kind kind;
    bool any = drawn(dice, &comm, &kind);
    int power = below(dice, settings.largest);
    struct dice own = {mix(roll(dice), (uint64_t)world_rank)};
    enum place place = chance(dice, 70) ? HEAP : (enum place)below(dice, PLACES);
    if (any && !skipped(kind, NONBLOCKING) && !quirk(kind, NOT_BLOCKING) && !absent(comm, kind)) {
        struct pending *one = place_for(&own);
        one->is_op = true;
        at_work(call, kind_names[kind], comm, "starting it");
        op_plan(&one->op, kind, NONBLOCKING, comm, call, power, place);
        op_fill(&one->op, call);
        op_call(&one->op);
        tally.started++;
    }
    call++;
}

static void persist(struct dice *dice) {
    struct comm *comm;
    enum kind kind;
    bool any = drawn(dice, &comm, &kind);
    int power = below(dice, settings.largest), repeats = 1 + below(dice, 5);
    struct op op;
    bool open = false;
    long first = call;
    for (int i = 0; any && i < repeats; i++, call++) {
        if (skipped(kind, PERSISTENT) || absent(comm, kind) || !can_persist()) continue;
        if (quirk(kind, PERSISTENCE) || quirk(kind, NOT_BLOCKING)) continue;
        at_work(call, kind_names[kind], comm, "persistent");
        if (!open) {
            op_plan(&op, kind, PERSISTENT, comm, first, power, HEAP);
            op_call(&op);
        }
        open = true;
        op_fill(&op, call);
        MPI_Start(&op.request);
        MPI_Wait(&op.request, MPI_STATUS_IGNORE);
        op_check(&op);
        tally.started++;
    }
    if (open) {
        MPI_Request_free(&op.request);
        op_end(&op);
    }
}

static void talk(struct dice *dice) {
    struct comm *comm = draw_comm(dice, false);
    struct dice own = {mix(roll(dice), (uint64_t)world_rank)};
    if (comm->handle != MPI_COMM_NULL && call >= settings.first && settings.messages) {
        struct pending *one = place_for(&own);
        one->is_op = false;
        one->used = talk_start(&one->talk, comm, call);
    }
    call++;
}

static void change_comms(struct dice *dice) {
    int slot = 1 + below(dice, COMMS - 1);
    bool keep = chance(dice, 50);
    if (!settings.comms) return;
    if (!comms[slot].alive) {
        comm_make(slot, *dice);
    } else if (!keep) {
        finish_some(&comms[slot], false);
        comm_drop(slot);
    }
}

/* With a time limit rank 0's clock decides for all, by a way of its own that no blocking collective
 * sees. */
static bool time_is_up(MPI_Comm private, double start) {
    static _Thread_local long asked;
    int up = now() - start > settings.seconds;
    if (!settings.seconds || event < asked + 32) return false;
    asked = event;
    at_work(call, "asking for the time", &comms[0], "");
    MPI_Request request;
    MPI_Ibcast(&up, 1, MPI_INT, 0, private, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return up;
}

void play(MPI_Comm private) {
    double start = now();
    for (event = 0; call < settings.calls && !time_is_up(private, start); event++) {
        struct dice dice = {mix(settings.seed, (uint64_t)event + (1u << 30))};
        finish_some(NULL, false);
        int what = below(&dice, 100);
        if (event < 5 || what < 6) change_comms(&dice);
        else if (what < 16) start_one(&dice);
        else if (what < 20) persist(&dice);
        else if (what < 34) talk(&dice);
        else series(&dice);
    }
    finish_some(NULL, true);
    for (int i = 1; i < COMMS; i++)
        if (comms[i].alive) comm_drop(i);
}
