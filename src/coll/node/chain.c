/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_chain - scan and exscan of short vectors, without a barrier. If the rank before has its
 * result, a rank combines its elements with that, as in the linear scans of MPI libraries. If not,
 * it waits for it; on an oversubscribed node it publishes its elements and looks back: from the
 * nearest rank with a result it combines, upwards, the elements that the ranks between have
 * published. So a scan by itself does not go from rank to rank, each of which must get the
 * processor first: all ranks have published after one turn each, and all are done after another.
 * And ranks may run ahead of each other, and then find the result of the rank before. The
 * association is always from the left, ((a0 op a1) op a2) ..., whatever a rank has found. With a
 * processor for each rank nobody looks back, since to read the lines of all ranks takes longer than
 * to wait for one: 96 ranks, 8 bytes, 19 us instead of 14, 512 bytes 69 instead of 16, simulated.
 *
 * Each rank has a ring of cache lines. All ranks know the length of every call, so its records lie
 * at the same place of all rings. One that would cross the end of the ring begins at its start. A
 * record is written again when the next rank has done its call. That rank publishes its position
 * when a quarter of the ring is free or before it waits. Ranks further on may still read the record
 * then. They find out (`claimed`), and then the rank behind the overwritten one had its result; so
 * they look back again. They need no position of their own.
 * Source  Merrill, Garland: Single-pass parallel prefix scan with decoupled look-back, NVIDIA
 *         technical report NVR-2016-002; there between blocks of threads, each with its own record.
 * Cost    no barrier. With processors for all p - 1 hand-overs and combinations, one after the
 *         other. Else, of a call by itself, two turns of all ranks, and for rank r up to r
 *         combinations; of many in a row one visit and one combination per rank and call.
 * Wins    on oversubscribed nodes, and with few ranks. */
#include "coll/coll.h"

#include <stddef.h>

extern const struct algorithm_code algorithm_chain;

enum { line = 64, ring_lines = 128, most_lines = 33 };

struct ring {
    /* Twice the writer's position, in lines, up to which it has published results; one more: in the
     * record that follows its elements are. Wraps, as all positions. */
    _Alignas(line) struct flag filled;
    _Atomic uint32_t claimed; /* the writer may have begun to write up to here */
    _Alignas(line) struct flag taken; /* the position of the next rank, as it told */
    /* When the next rank entered that call, or a later one; see waits.c. */
    _Atomic double reader_entered;
    /* Private to the writer: its position, as it is and as it told the rank before; `taken` and the
     * `filled` of the rank before, as last seen. */
    _Alignas(line) uint32_t at;
    uint32_t told, room, seen;
    struct chain_record {
        _Alignas(line) _Atomic double entered; /* when the writer entered this call */
        _Atomic uint64_t words[];              /* of its own elements, then of its result */
    } lines[];
};
_Static_assert((ring_lines & (ring_lines - 1)) == 0, "positions wrap");

enum {
    head_bytes = offsetof(struct chain_record, words),
    most_words = (most_lines * line - head_bytes) / 8 / 2,
    most_bytes = most_words * 8,
    room_words = (most_words + 7) / 8 * 8,
    ring_bytes = sizeof(struct ring) + ring_lines * line
};

/* A call's records, in each ring. */
struct span {
    uint32_t begin, lines, words; /* words of a vector */
};
enum content { ELEMENTS, RESULT };

static inline struct ring *ring_of(const struct team *team, int writer) {
    return (struct ring *)(void *)(team->shared[ALGORITHM_chain] + (size_t)writer * ring_bytes);
}

static inline struct chain_record *record_in(struct ring *ring, const struct span *span) {
    return (struct chain_record *)(void *)((char *)ring->lines +
                                           (size_t)(span->begin % ring_lines) * line);
}

static bool chain_can(const struct figures *f, const struct calls *calls,
                      const struct arguments *arguments) {
    (void)f, (void)arguments;
    return calls->largest.bytes <= most_bytes;
}

static uint32_t words_of(size_t bytes) { return (uint32_t)((bytes + 7) / 8); }
static uint32_t lines_of(uint32_t words) { return (head_bytes + 16 * words + line - 1) / line; }

/* The span that follows position `at`. */
static inline struct span span_after(uint32_t at, size_t bytes) {
    uint32_t words = words_of(bytes), lines = lines_of(words), left = ring_lines - at % ring_lines;
    return (struct span){left < lines ? at + left : at, lines, words};
}

/* ---- the writer ---- */

/* Waits until the next rank has done the calls whose records this one will overwrite. */
HOT static void claim(struct team *team, struct ring *mine, const struct span *span) {
    uint32_t end = span->begin + span->lines;
    if (end - mine->room > ring_lines) {
        if (flag_reach(team, &mine->taken, end - ring_lines))
            waits_for(team, team->me + 1,
                      atomic_load_explicit(&mine->reader_entered, memory_order_relaxed));
        mine->room = flag_look(&mine->taken);
    }
    atomic_store_explicit(&mine->claimed, end, memory_order_release);
    if (team->waits.on)
        atomic_store_explicit(&record_in(mine, span)->entered, team->waits.entered,
                              memory_order_relaxed);
}

/* Each word by itself, since a rank further on may be reading what was there before. A release: who
 * reads one of them finds `claimed`. */
HOT static void put(struct ring *mine, const struct span *span, enum content content,
                    const uint64_t *from) {
    _Atomic uint64_t *to = record_in(mine, span)->words + content * span->words;
    for (uint32_t i = 0; i < span->words; i++)
        atomic_store_explicit(&to[i], from[i], memory_order_release);
    flag_set(&mine->filled,
             content == RESULT ? 2 * (span->begin + span->lines) : 2 * span->begin + 1);
}

/* ---- the readers ---- */

static inline bool has_elements(uint32_t filled, const struct span *span) {
    return (int32_t)(filled - 2 * span->begin) > 0;
}
static inline bool has_result(uint32_t filled, const struct span *span) {
    return (int32_t)(filled - 2 * span->begin) > 1;
}

/* False: the record was overwritten meanwhile. */
HOT static bool get(struct ring *ring, const struct span *span, enum content content,
                    uint64_t *to) {
    const _Atomic uint64_t *from = record_in(ring, span)->words + content * span->words;
    for (uint32_t i = 0; i < span->words; i++)
        to[i] = atomic_load_explicit(&from[i], memory_order_acquire);
    /* An acquire: who looks again finds the result behind the overwritten record. */
    uint32_t claimed = atomic_load_explicit(&ring->claimed, memory_order_acquire);
    return claimed - span->begin <= ring_lines;
}

HOT static void tell(struct team *team, struct ring *mine, uint32_t position) {
    struct ring *before = ring_of(team, team->me - 1);
    if (mine->told == position) return;
    if (team->waits.on)
        atomic_store_explicit(&before->reader_entered, team->waits.entered, memory_order_relaxed);
    mine->told = position;
    flag_set(&before->taken, position);
}

/* Waits until a rank has published that, or more. */
HOT static void await(struct team *team, struct ring *mine, int rank, const struct span *span,
                      enum content content) {
    struct ring *ring = ring_of(team, rank);
    tell(team, mine, span->begin);
    if (flag_reach(team, &ring->filled, 2 * span->begin + 1 + content))
        waits_for(team, rank,
                  atomic_load_explicit(&record_in(ring, span)->entered, memory_order_relaxed));
}

/* What all ranks before this one have, combined, into one of two vectors, which it returns. NULL:
 * a record was overwritten, so look again. Rank 0 publishes nothing but results. */
HOT static uint64_t *look_back(struct team *team, struct ring *mine, const struct span *span,
                           const struct reduction *reduction, uint64_t *sum, uint64_t *next) {
    int from = team->me - 1;
    for (;;) {
        uint32_t filled = flag_look(&ring_of(team, from)->filled);
        if (has_result(filled, span)) break;
        if (has_elements(filled, span)) from--;
        else await(team, mine, from, span, ELEMENTS);
    }
    if (!get(ring_of(team, from), span, RESULT, sum)) return NULL;
    for (int r = from + 1; r < team->me; r++) {
        if (!get(ring_of(team, r), span, ELEMENTS, next)) return NULL;
        reduction->combine(reduction, (const char *)sum, (char *)next, reduction->count);
        uint64_t *both = next;
        next = sum;
        sum = both;
    }
    return sum;
}

/* Returns one of two vectors: what all ranks before this one have, combined. */
HOT static uint64_t *combined_before(struct team *team, struct ring *mine, const struct span *span,
                                     const struct reduction *reduction, const uint64_t *own,
                                     uint64_t (*vectors)[room_words]) {
    struct ring *before = ring_of(team, team->me - 1);
    if (!has_result(mine->seen, span)) mine->seen = flag_look(&before->filled);
    if (!has_result(mine->seen, span) && team->patience.crowded) { /* others may do otherwise */
        if (team->me < team->p - 1) put(mine, span, ELEMENTS, own);
        uint64_t *sum;
        do sum = look_back(team, mine, span, reduction, vectors[0], vectors[1]);
        while (!sum);
        return sum;
    }
    if (!has_result(mine->seen, span)) await(team, mine, team->me - 1, span, RESULT);
    get(before, span, RESULT, vectors[0]); /* it waits for me before it writes there again */
    return vectors[0];
}

/* ---- the call ---- */

/* Ranks that run ahead wait when a ring is full. With a processor for each rank this is the price
 * of a call by itself, as programs mostly have them. */
static double chain_cost(const struct figures *f, const struct shape *shape,
                         const struct arguments *arguments) {
    (void)arguments;
    if (crowding(f) <= 1) return (f->p - 1) * (visit_seconds + combine_seconds(shape->bytes));
    double calls = (double)ring_lines / lines_of(words_of(shape->bytes));
    return 2 / calls * f->usual_sync_seconds +
           crowding(f) * (visit_seconds + 2 * combine_seconds(shape->bytes));
}

HOT static enum outcome chain_run(struct team *team, const struct call *call,
                                  const struct arguments *arguments) {
    (void)arguments;
    const struct reduction *reduction = call->reduction;
    size_t bytes = reduction->bytes * reduction->count;
    if (bytes > most_bytes) return LEFT; /* elements with long gaps */
    if (bytes == 0) return DONE;
    /* Each begins a cache line: a user's operation may count on what malloc aligns. */
    _Alignas(line) uint64_t own[room_words], vectors[2][room_words];
    bool exclusive = call->shape.collective == COLL_exscan, last = team->me == team->p - 1;
    struct ring *mine = ring_of(team, team->me);
    struct span span = span_after(mine->at, bytes);
    if (!last) claim(team, mine, &span);
    own[span.words - 1] = 0;
    memcpy(own, call->send, bytes); /* in place, the next lines may write there */
    if (team->me > 0) {
        uint64_t *before = combined_before(team, mine, &span, reduction, own, vectors);
        if (exclusive) memcpy(call->recv, before, bytes);
        if (!exclusive || !last)
            reduction->combine(reduction, (const char *)before, (char *)own, reduction->count);
    }
    if (!last) put(mine, &span, RESULT, own);
    if (!exclusive) memcpy(call->recv, own, bytes);
    mine->at = span.begin + span.lines;
    if (team->me > 0 && mine->at - mine->told >= ring_lines / 4) tell(team, mine, mine->at);
    return DONE;
}

const struct algorithm_code algorithm_chain = {.loose = true,
                                               .copies_in = true,
                                               .shared = {0, ring_bytes},
                                               .can = chain_can,
                                               .cost = chain_cost,
                                               .run = chain_run};
