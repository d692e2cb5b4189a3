/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_chain - scan and exscan of short vectors: each rank waits for the one before it only,
 * adds its own elements to what it finds there, and leaves the sum for the next. So ranks may run
 * ahead of each other, as they do in the linear scans of MPI libraries. Prefixes are bracketed from
 * the left, ((a0 op a1) op a2) ..., whoever comes when.
 *
 * Between neighbours lies a ring of lines, which one writes and the other reads, like a pipe. Both
 * know the length of every record, so there is nothing in it but when the writer entered the call,
 * and the sum; one that would go round the end begins at the start. The writer tells after each
 * call how far it is. The reader tells when a quarter is free, or before it waits: where ranks
 * share processors, each that has its turn then finds many calls' worth of sums and of room, not
 * one.
 * Cost    no barrier; p combinations one after the other, but those of successive calls overlap.
 * Wins    where scans follow each other; where all ranks wait for the result `combine` has fewer
 *         steps. */
#include "coll/coll.h"

#include <stddef.h>

extern const struct algorithm_code algorithm_chain;

enum { line = 64, ring_lines = 128, most_lines = 17 };

/* What one end of a ring knows. All counters are of lines since the team began, and wrap. */
struct end {
    /* How far I am; how far the other was when I looked; how far I said that I am. */
    uint32_t mine, theirs, told;
};
struct ring {
    _Alignas(line) struct flag filled; /* by the writer */
    _Alignas(line) struct flag taken;  /* by the reader */
    /* That call or, if it goes on meanwhile, a later one; see waits.c. */
    _Atomic double reader_entered;
    _Alignas(line) struct end in; /* the writer's own: of the ring before, where it reads, */
    struct end out;               /* and of this one */
    struct record {
        _Alignas(line) double entered; /* the writer, this call */
        _Alignas(16) char sum[];
    } lines[];
};
_Static_assert((ring_lines & (ring_lines - 1)) == 0, "counters wrap");

enum {
    most_bytes = most_lines * line - offsetof(struct record, sum),
    ring_bytes = sizeof(struct ring) + ring_lines * line
};

static inline struct ring *ring_of(const struct team *team, int writer) {
    return (struct ring *)(void *)(team->shared[ALGORITHM_chain] + (size_t)writer * ring_bytes);
}
static inline struct record *record_at(struct ring *ring, uint32_t at) {
    return (struct record *)(void *)((char *)ring->lines + (size_t)(at % ring_lines) * line);
}

static bool chain_can(const struct figures *f, const struct calls *calls,
                      const struct arguments *arguments) {
    (void)f, (void)arguments;
    return calls->largest.bytes <= most_bytes;
}

static uint32_t lines_of(size_t bytes) {
    return (uint32_t)((offsetof(struct record, sum) + bytes + line - 1) / line);
}

/* Where the next record of so many lines begins, if the one before ended here. */
static inline uint32_t begin_of(uint32_t end, uint32_t lines) {
    uint32_t left = ring_lines - end % ring_lines;
    return left < lines ? end + left : end;
}

/* ---- the writer ---- */

HOT static struct record *chain_room_for(struct team *team, uint32_t lines) {
    struct ring *ring = ring_of(team, team->me);
    struct end *end = &ring->out;
    uint32_t begin = begin_of(end->mine, lines);
    bool waited = false;
    while (begin + lines - end->theirs > ring_lines) {
        uint32_t taken = flag_look(&ring->taken);
        if (taken == end->theirs) {
            flag_wait(team, &ring->taken, taken);
            waited = true;
        }
        end->theirs = taken;
    }
    if (team->waits.on && waited)
        waits_for(team, team->me + 1,
                  atomic_load_explicit(&ring->reader_entered, memory_order_relaxed));
    end->mine = begin;
    return record_at(ring, begin);
}

HOT static void hand_on(struct team *team, struct record *record, uint32_t lines) {
    struct ring *ring = ring_of(team, team->me);
    if (team->waits.on) record->entered = team->waits.entered;
    flag_set(&ring->filled, ring->out.mine += lines);
}

/* ---- the reader ---- */

HOT static void tell_taken(struct team *team, struct end *end) {
    struct ring *ring = ring_of(team, team->me - 1);
    if (team->waits.on)
        atomic_store_explicit(&ring->reader_entered, team->waits.entered, memory_order_relaxed);
    end->told = end->mine;
    flag_set(&ring->taken, end->told);
}

HOT static struct record *wait_for(struct team *team, uint32_t lines) {
    struct ring *ring = ring_of(team, team->me - 1);
    struct end *end = &ring_of(team, team->me)->in;
    end->mine = begin_of(end->mine, lines);
    bool waited = false;
    while ((int32_t)(end->theirs - end->mine) <= 0) {
        uint32_t filled = flag_look(&ring->filled);
        if (filled == end->theirs) {
            if (end->told != end->mine) tell_taken(team, end);
            flag_wait(team, &ring->filled, filled);
            waited = true;
        }
        end->theirs = filled;
    }
    struct record *record = record_at(ring, end->mine);
    if (team->waits.on && waited) waits_for(team, team->me - 1, record->entered);
    return record;
}

HOT static void pass_by(struct team *team, uint32_t lines) {
    struct end *end = &ring_of(team, team->me)->in;
    end->mine += lines;
    if (end->mine - end->told >= ring_lines / 4) tell_taken(team, end);
}

/* ---- the call ---- */

/* A visit as in arrival.c. Ranks that run ahead wait when a ring is full. */
static double chain_cost(const struct figures *f, const struct shape *shape,
                         const struct arguments *arguments) {
    (void)arguments;
    static const double visit_seconds = 100e-9;
    double calls = (double)ring_lines / lines_of(shape->bytes);
    return 2 / calls * f->usual_sync_seconds +
           crowding(f) * (visit_seconds + 2 * combine_seconds(shape->bytes));
}

HOT static enum outcome chain_run(struct team *team, const struct call *call,
                                  const struct arguments *arguments) {
    (void)arguments;
    const struct reduction *reduction = call->reduction;
    size_t bytes = reduction->bytes * reduction->count;
    if (bytes > most_bytes) return LEFT; /* elements with long gaps */
    bool exclusive = call->shape.collective == COLL_exscan, last = team->me == team->p - 1;
    uint32_t lines = lines_of(bytes);
    _Alignas(line) char own[most_bytes];
    struct record *record = last ? NULL : chain_room_for(team, lines);
    char *sum = last ? own : record->sum;
    memcpy(sum, call->send, bytes); /* in place, the next lines may write there */
    if (team->me > 0) {
        struct record *before = wait_for(team, lines);
        if (exclusive) memcpy(call->recv, before->sum, bytes);
        if (!exclusive || !last) reduction->combine(reduction, before->sum, sum, reduction->count);
        pass_by(team, lines);
    }
    if (!exclusive) memcpy(call->recv, sum, bytes);
    if (!last) hand_on(team, record, lines);
    return DONE;
}

const struct algorithm_code algorithm_chain = {.loose = true,
                                               .copies_in = true,
                                               .shared = {0, ring_bytes},
                                               .can = chain_can,
                                               .cost = chain_cost,
                                               .run = chain_run};
