/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_chain - scan and exscan of short vectors: each rank waits only for the rank before it,
 * combines its elements with the prefix that it finds, and leaves the result for the next rank. So
 * ranks may run ahead of each other, as in the linear scans of MPI libraries. The association is
 * always from the left, ((a0 op a1) op a2) ...
 *
 * Between neighbours there is a ring of cache lines, written by one and read by the other, like a
 * pipe. Both know the length of every record, so a record holds only the prefix and the time at
 * which the writer entered the call. A record that would cross the end of the ring begins at its
 * start. The writer publishes its position after each call, the reader when a quarter of the ring
 * is free or before it waits. So on oversubscribed nodes a rank that is scheduled finds data and
 * room for many calls.
 * Cost    no barrier; p combinations one after the other, but those of successive calls overlap.
 * Wins    if scans follow each other; if all ranks wait for the result, `combine` has fewer
 *         steps. */
#include "coll/coll.h"

#include <stddef.h>

extern const struct algorithm_code algorithm_chain;

enum { line = 64, ring_lines = 128, most_lines = 17 };

/* What one end of a ring knows. All counters count lines since the team was made, and wrap. */
struct end {
    uint32_t mine;   /* my position */
    uint32_t theirs; /* the other end's position, as last seen */
    uint32_t told;   /* my position, as last published */
};
struct ring {
    _Alignas(line) struct flag filled; /* by the writer */
    _Alignas(line) struct flag taken;  /* by the reader */
    /* When the reader entered that call, or a later one; see waits.c. */
    _Atomic double reader_entered;
    _Alignas(line) struct end in; /* private to the writer: its reading end of the ring before */
    struct end out;               /* private to the writer: its end of this ring */
    struct chain_record {
        _Alignas(line) double entered; /* when the writer entered this call */
        _Alignas(16) char sum[];
    } lines[];
};
_Static_assert((ring_lines & (ring_lines - 1)) == 0, "counters wrap");

enum {
    most_bytes = most_lines * line - offsetof(struct chain_record, sum),
    ring_bytes = sizeof(struct ring) + ring_lines * line
};

static inline struct ring *ring_of(const struct team *team, int writer) {
    return (struct ring *)(void *)(team->shared[ALGORITHM_chain] + (size_t)writer * ring_bytes);
}
static inline struct chain_record *record_at(struct ring *ring, uint32_t at) {
    return (struct chain_record *)(void *)((char *)ring->lines + (size_t)(at % ring_lines) * line);
}

static bool chain_can(const struct figures *f, const struct calls *calls,
                      const struct arguments *arguments) {
    (void)f, (void)arguments;
    return calls->largest.bytes <= most_bytes;
}

static uint32_t lines_of(size_t bytes) {
    return (uint32_t)((offsetof(struct chain_record, sum) + bytes + line - 1) / line);
}

/* Where the next record of `lines` lines begins if the one before ended at `end`. */
static inline uint32_t begin_of(uint32_t end, uint32_t lines) {
    uint32_t left = ring_lines - end % ring_lines;
    return left < lines ? end + left : end;
}

/* ---- the writer ---- */

HOT static struct chain_record *chain_room_for(struct team *team, uint32_t lines) {
    struct ring *ring = ring_of(team, team->me);
    struct end *end = &ring->out;
    uint32_t begin = begin_of(end->mine, lines);
    if (begin + lines - end->theirs > ring_lines) {
        if (flag_reach(team, &ring->taken, begin + lines - ring_lines))
            waits_for(team, team->me + 1,
                      atomic_load_explicit(&ring->reader_entered, memory_order_relaxed));
        end->theirs = flag_look(&ring->taken);
    }
    end->mine = begin;
    return record_at(ring, begin);
}

HOT static void hand_on(struct team *team, struct chain_record *record, uint32_t lines) {
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

HOT static struct chain_record *wait_for(struct team *team, uint32_t lines) {
    struct ring *ring = ring_of(team, team->me - 1);
    struct end *end = &ring_of(team, team->me)->in;
    end->mine = begin_of(end->mine, lines);
    struct chain_record *record = record_at(ring, end->mine);
    if ((int32_t)(end->theirs - end->mine) <= 0) {
        if (end->told != end->mine && !flag_past(&ring->filled, end->mine + 1))
            tell_taken(team, end);
        if (flag_reach(team, &ring->filled, end->mine + 1))
            waits_for(team, team->me - 1, record->entered);
        end->theirs = flag_look(&ring->filled);
    }
    return record;
}

HOT static void pass_by(struct team *team, uint32_t lines) {
    struct end *end = &ring_of(team, team->me)->in;
    end->mine += lines;
    if (end->mine - end->told >= ring_lines / 4) tell_taken(team, end);
}

/* ---- the call ---- */

/* visit_seconds as in arrival.c. Ranks that run ahead wait when a ring is full. */
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
    struct chain_record *record = last ? NULL : chain_room_for(team, lines);
    char *sum = last ? own : record->sum;
    memcpy(sum, call->send, bytes); /* in place, the next lines may write there */
    if (team->me > 0) {
        struct chain_record *before = wait_for(team, lines);
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
