/* SPDX-License-Identifier: BSD-3-Clause */
/* known - calls that look like earlier ones. Programs repeat their calls, and a short one may take
 * only 50 ns natively, less than it takes to examine it. So a team remembers calls that came twice:
 * their shape and plan, and the call as mortar's algorithms get it. One that looks the same goes
 * there at once, while the planner lets its class run unasked (plan_repeats), else by way of the
 * planner, so that trials compare calls as they will be.
 *
 * What is looked at belongs to one rank, so another rank may well examine the call. Nothing depends
 * on it: the short way does what the long way would have done, with the same plan, and counts the
 * same in the planner and in the ledger. */
#include "mpi/look.h"

#include <stdlib.h>
#include <string.h>

/* A team remembers 1 << bits calls. Each has two places, which its look decides: of a dozen calls
 * in a loop some share one, and would drive each other out. */
enum { fewest_bits = 5, most_bits = 9 };

/* What each such call touches comes first. */
struct known {
    struct look look;
    /* Of the latest such call; NULL: it came once, or its look does not tell all. */
    struct plan *plan;
    struct plan_class *class;
    struct single single; /* that plan takes one barrier for the call; before NULL: it does not */
    /* Not NULL: the shape is an estimate, which was `told` bytes. */
    struct last_call *last;
    uint64_t told;
    struct fit fit;
    size_t bytes; /* for the report */
    struct ledger_entry entry;
    enum known_way way;   /* if the plan runs unasked */
    bool native;          /* the host MPI runs that plan */
    bool suits;           /* known_suits it */
    bool prompt;          /* sure, and nothing but the look, the buffers and the planner decides */
    bool sure;            /* what is compared tells whether the library refuses it; all below */
    bool able;            /* sure, and `ready` is complete */
    bool in_place;        /* send.buffer is MPI_IN_PLACE */
    bool listed;          /* `ready` holds only for calls with these lists */
    bool filled;          /* known_fill has seen it */
    const struct family *family;
    struct ready ready;
    struct lists lists;
};

struct shortcuts {
    struct known *latest[COLLECTIVES]; /* the latest of each that was prompt; never NULL */
    unsigned bits;
    unsigned driven_out; /* calls that came again, since there are so many places */
    struct known at[];
};

/* ---- the calls of a team ---- */

/* The second place is not the first one. */
HOT static inline struct known *place_at(struct shortcuts *all, uint64_t mix, int which) {
    size_t place = mix >> (64 - all->bits);
    if (which) place ^= 1 | (mix >> 32 & ((1u << all->bits) - 1));
    return &all->at[place];
}

/* NULL: no call looked like this one. */
HOT static inline struct known *known_at(struct shortcuts *all, const struct look *look) {
    uint64_t mix = mix_of(look);
    struct known *k = place_at(all, mix, 0);
    if (looks_same(&k->look, look)) return k;
    k = place_at(all, mix, 1);
    return looks_same(&k->look, look) ? k : NULL;
}

static _Atomic uint64_t examined;

uint64_t known_examined(void) { return atomic_load_explicit(&examined, memory_order_relaxed); }

void known_examines(void) { atomic_fetch_add_explicit(&examined, 1, memory_order_relaxed); }

/* One of the two places of such a call, if possible one whose content is void, else by chance: who
 * is driven out looks for another place in turn, and so calls that no longer come make room for
 * those that do. */
static struct known *place_for(struct shortcuts *all, const struct look *look) {
    uint64_t mix = mix_of(look);
    struct known *one = place_at(all, mix, 0), *other = place_at(all, mix, 1);
    if (one->look.changes != look->changes) return one;
    if (hashed(known_examined()) >> 63 || other->look.changes != look->changes) one = other;
    if (one->plan && one->look.changes == look->changes) all->driven_out++;
    return one;
}

/* ---- the buffers of a call ---- */

HOT static inline bool on_host(const struct known *k, const struct team *team,
                               const struct request *r) {
    const struct fit *fit = &k->fit;
    return !on_device(team, fit->sends ? r->send.buffer : NULL,
                      fit->receives ? r->recv.buffer : NULL);
}

HOT static inline void buffers_enter(struct known *k, const struct request *r) {
    struct ready *ready = &k->ready;
    char *sent = (char *)(uintptr_t)r->send.buffer, *received = (char *)(uintptr_t)r->recv.buffer;
    if (k->in_place) sent = received + k->fit.own;
    ready->call.send = sent;
    ready->call.recv = received;
    if (ready->call.sends) ready->sends.base = sent;
    if (ready->call.recvs) ready->recvs.base = received;
    if (k->listed) lists_enter(ready, r);
}

/* ---- a known call ---- */

/* Can the plan run it as it is ready? Long blocks that others write have to be shown first. */
HOT bool known_suits(const struct known *k, const struct plan *plan) {
    const struct algorithm_code *code = plan->algorithm->code;
    return k->able && code->run && code->where == ON_NODE &&
           (k->family != &family_parts || k->ready.brief ||
            orders[plan->arguments.walk.order].own_dest);
}

/* The ranks' estimate of the size holds for `left` more calls, then all ranks renew it. That is
 * also so if the estimate is 0 bytes but was made (`sure`). Without an estimate nothing expires. */
HOT static inline bool still_counts(const struct known *k) {
    const struct last_call *last = k->last;
    return !last ||
           (last->bytes == k->told && (last->left > 0 || (last->bytes == 0 && last->sure == 0)));
}

/* A call that the MPI library refuses is none for the other ranks, and must not count where mortar
 * serves: one that looks the same may have other buffers, lists or types behind its handles. */
HOT static inline bool holds(const struct known *k, struct team *team, const struct request *r) {
    struct standing standing;
    if (k->sure)
        return buffers_fit(&k->fit, r) && (k->native || on_host(k, team, r)) &&
               (!k->listed || lists_same(&k->lists, r));
    return k->native && (team->why_native || !is_refused(r, (struct met){.team = team}, &standing));
}

/* Any call. One that may be the latest of its collective is, from now on. */
HOT __attribute__((noinline)) static enum known_way
known_search(struct team *team, const struct request *r, struct known **found) {
    struct shortcuts *all = team->shortcuts;
    struct look look = look_of(team, r);
    struct known *k = *found = known_at(all, &look);
    if (!k || !k->plan) return EXAMINE;
    if (k->prompt) all->latest[r->collective] = k;
    if (!still_counts(k) || !holds(k, team, r)) return EXAMINE;
    if ((k->native || k->suits) && plan_repeats(k->class, k->plan)) return k->way;
    return k->sure ? ASK : EXAMINE;
}

/* Most calls look like the latest of their collective. Without a function call, so that no register
 * has to be saved. */
SHORT_WAY enum known_way known_find(struct team *team, const struct request *r,
                                    struct known **found) {
    if (!team->shortcuts) return EXAMINE;
    struct known *k = team->shortcuts->latest[r->collective];
    bool like = looks_like(&k->look, r) && k->prompt && buffers_fit(&k->fit, r);
    if (!like || !(k->native || no_gpus()) || !plan_repeats(k->class, k->plan))
        return known_search(team, r, found);
    *found = k;
    return k->way;
}

/* As expected_bytes in sizes.c does. */
HOT static inline void count_told(const struct known *k) {
    if (k->last && k->last->left > 0) k->last->left--;
}

static struct answer known_end(struct known *k, struct team *team, const struct request *r,
                               struct plan **plan, enum outcome outcome) {
    if (outcome == DONE && !blocks_cut) return returns(MPI_SUCCESS);
    return k->family->end(r, team, plan, &k->ready.call, outcome);
}

HOT struct answer known_run(struct known *k, struct team *team, const struct request *r,
                            struct plan **plan) {
    buffers_enter(k, r);
    blocks_cut = false;
    const struct algorithm_code *code = (*plan)->algorithm->code;
    return known_end(k, team, r, plan, code->run(team, &k->ready.call, &(*plan)->arguments));
}

/* It counts as any other call. */
HOT static inline void enter(const struct known *k, struct team *team) {
    ledger_write(team->ledger, ++team->calls, k->entry);
    count_told(k);
    k->plan->tally.calls++;
    k->plan->tally.bytes += k->bytes;
}

HOT static struct answer leave(const struct known *k, struct team *team, struct answer answer) {
    call_over(team, &k->ready.call.shape);
    if (answer.error) team->failed = true;
    return answer;
}

HOT int known_hand_on(const struct known *k, struct team *team, const struct request *r) {
    enter(k, team);
    return r->native(r);
}

HOT struct answer known_repeat(struct known *k, struct team *team, const struct request *r) {
    struct plan *plan = k->plan;
    enter(k, team);
    return leave(k, team, known_run(k, team, r, &plan));
}

SHORT_WAY bool known_single(struct known *k, struct team *team, const struct request *r,
                            struct single_state *state) {
    enter(k, team);
    buffers_enter(k, r);
    const struct arguments *arguments = &k->plan->arguments;
    if (!single_begin(&k->single, team, &k->ready.call, arguments, state)) return false;
    enum outcome outcome = single_end(&k->single, team, &k->ready.call, arguments, state);
    return outcome == DONE && !drive_is_due(team);
}

struct answer known_single_on(struct known *k, struct team *team, const struct request *r,
                              struct single_state *state) {
    struct plan *plan = k->plan;
    if (!state->over) blocks_cut = false;
    enum outcome outcome = single_end(&k->single, team, &k->ready.call, &plan->arguments, state);
    return leave(k, team, known_end(k, team, r, &plan, outcome));
}

const struct shape *known_shape(const struct known *k, struct ledger_entry *entry) {
    *entry = k->entry;
    entry->plan = 0;
    count_told(k);
    return &k->ready.call.shape;
}

static struct single single_of(const struct known *k, const struct team *team) {
    static const struct single none;
    const struct call *call = &k->ready.call;
    const struct plan *plan = k->plan;
    const struct single *single = NULL;
    if (k->suits && !call->trouble)
        single = single_for(plan->algorithm->code, team, call, &plan->arguments);
    return single ? *single : none;
}

void known_planned(struct known *k, const struct team *team, struct plan *plan,
                   struct ledger_entry entry) {
    k->plan = plan;
    k->native = !plan->algorithm->code->run;
    k->suits = known_suits(k, plan);
    k->single = single_of(k, team);
    k->way = k->native ? HAND_ON : k->single.before ? SINGLE : REPEAT;
    k->prompt = (k->native || k->suits) && k->sure && !k->listed && !k->last &&
                !among(k->ready.call.shape.collective, SUMMED);
    k->entry = entry;
}

/* ---- remembering ---- */

/* Does the look tell the shape? A handle must go on to mean the same type, or operation. Of two
 * sides that MPI wants to match one is enough; those of neighbours need not match, and sizes.c
 * looks at both. */
static bool tells_shape(const struct request *r, struct team *team, const struct shape *shape) {
    bool sent = false, received = true;
    if (r->collective == COLL_gather) sent = team->me != r->root, received = !sent;
    if (r->collective == COLL_scatter) sent = team->me == r->root, received = !sent;
    if (among(r->collective, NEIGHBORS) && !team->why_native) {
        const struct neighbours *neighbours = neighbours_of(r->comm, team, r->collective);
        sent = neighbours->outs > 0, received = neighbours->ins > 0;
    }
    if (among(r->collective, REDUCTIONS) && !op_is_steady(r->op)) return false;
    if (shape->unsized) return true;
    return (!sent || type_is_steady(r->send.type)) && (!received || type_is_steady(r->recv.type));
}

/* Lists that change from call to call would be prepared for nothing. */
static bool lists_come_again(struct known *k, const struct request *r, const struct team *team) {
    struct block_counts listed = k->ready.extent;
    if (r->collective == COLL_reduce_scatter) listed.recvs = team->p; /* of all ranks' parts */
    return lists_again(&k->lists, r, &listed);
}

/* Fills what each such call is compared with. False: the MPI library may yet refuse it. */
static bool known_compare(struct known *k, const struct request *r, struct team *team) {
    struct block_counts *extent = &k->ready.extent;
    if (team->wire || team->why_native) return false;
    *extent = parts_extent(r, team, &k->ready.call.neighbours);
    k->in_place = r->send.buffer == MPI_IN_PLACE;
    k->listed = r->send.counts || r->recv.counts;
    if (k->listed && !lists_come_again(k, r, team)) return false;
    k->fit = fit_of(r, extent, team->me);
    return types_are_steady(&k->fit, r);
}

static void known_empty(struct known *k, bool filled) {
    k->plan = NULL;
    k->sure = k->able = k->prompt = false;
    k->filled = filled;
}

static void known_fill(struct known *k, const struct request *r, struct team *team,
                       const struct family *family, struct plan *plan, const struct shape *shape) {
    bool later = k->filled; /* lists that stay the same may make it able */
    known_empty(k, true);
    k->class = plan_class_of(team, shape);
    bool estimated = shape->unsized && r->collective != COLL_barrier;
    k->last = estimated ? &team->last_calls[r->collective] : NULL;
    k->told = k->last ? k->last->bytes : 0;
    k->bytes = shape->bytes;
    k->family = family;
    k->ready = (struct ready){0};
    if (!tells_shape(r, team, shape)) return;
    k->ready.call.shape = *shape;
    k->ready.call.root = r->root;
    k->sure = known_compare(k, r, team);
    k->able = k->sure && family->prepare(r, team, &k->ready);
    if (r->send.types || r->recv.types) k->sure = k->able; /* `prepare` alone looks at those */
    /* Such buffers may have decided something; look again when others come. */
    if (k->sure ? buffers_fit(&k->fit, r) && on_host(k, team, r) : later) k->plan = plan;
}

/* Places, and behind them room for each one's lists: as many as an alltoallw with ints has, or a
 * neighbourhood of few ranks. A communicator of very many ranks would pay more for comparing them
 * than for looking. */
static struct shortcuts *make_places(const struct team *team, unsigned bits) {
    enum { each = 2 * (2 * sizeof(int) + sizeof(MPI_Datatype)), least = 512, most = 8 << 10 };
    const size_t places = (size_t)1 << bits, wanted = (size_t)team->p * each;
    const size_t room = wanted < least ? least : wanted > most ? most : wanted;
    struct shortcuts *all = malloc(sizeof *all + places * (sizeof *all->at + room));
    if (!all) return NULL;
    memset(all, 0, sizeof *all + places * sizeof *all->at);
    all->bits = bits;
    for (int c = 0; c < COLLECTIVES; c++) all->latest[c] = all->at; /* it looks like no call */
    for (size_t i = 0; i < places; i++) {
        all->at[i].lists.room = (uint16_t)room;
        all->at[i].lists.copy = (char *)&all->at[places] + i * room;
    }
    return all;
}

/* The team's places; NULL: no memory. There become four times as many, empty ones, when that many
 * calls were driven out that had come again. */
static struct shortcuts *places_of(struct team *team) {
    struct shortcuts *all = team->shortcuts;
    if (all && (all->bits == most_bits || all->driven_out >> all->bits == 0)) return all;
    struct shortcuts *more = make_places(team, all ? all->bits + 2 : fewest_bits);
    if (more) free(all), team->shortcuts = all = more;
    return all;
}

void known_note(const struct request *r, struct team *team, const struct family *family,
                struct plan *plan, const struct shape *shape, struct ledger_entry entry) {
    if (report_wanted() || verify_wanted() || plan_off(r->collective) ||
        !plan_class_of(team, shape))
        return;
    struct shortcuts *all = places_of(team);
    if (!all) return;
    struct look look = look_of(team, r);
    struct known *k = known_at(all, &look);
    bool listed = r->send.counts || r->recv.counts;
    if (!k) k = place_for(all, &look), known_empty(k, false), k->look = look;
    else if (!k->plan || shape->unsized || listed) known_fill(k, r, team, family, plan, shape);
    if (k->plan) known_planned(k, team, plan, entry);
}
