/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce - shared by the algorithms that combine; see reduce.h.
 *
 * The staged vectors a(0) .. a(p-1) lie in rank order, and a(i) = a(i-1) op a(i) for i = 1, 2 ..
 * p-1 leaves in slot i rank i's result of a scan, and in the last slot the reduction of all
 * vectors. No other memory is needed, and the association is always the same.
 *
 * Where the barrier is a tree of gates, the vectors of those that meet at a gate are combined so,
 * by the last to arrive there, who takes the result to the next gate. So with a core for each rank
 * the lines of p vectors do not all come to one core: 8 bytes among 192 ranks take 2.6 us instead
 * of 8.1, simulated (docs/cores.md). The gates decide the association, not who arrives when. If the
 * seats at the gates are not in the order of the ranks, this is for operations that commute. */
#include "coll/coll.h"

enum { line = 64 };

struct part part_received(const struct team *team, const struct call *call, int rank) {
    const struct reduction *reduction = call->reduction;
    size_t count = reduction->count, p = (size_t)team->p, first = 0;
    switch (call->shape.collective) {
    case COLL_reduce: return (struct part){0, rank == call->root ? count : 0};
    case COLL_exscan: return (struct part){0, rank > 0 ? count : 0};
    case COLL_reduce_scatter_block: return (struct part){count / p * (size_t)rank, count / p};
    case COLL_reduce_scatter:
        for (int r = 0; r < rank; r++)
            first += (size_t)entry_of(reduction->counts, reduction->count_width, r);
        return (struct part){first,
                             (size_t)entry_of(reduction->counts, reduction->count_width, rank)};
    default: return (struct part){0, count};
    }
}

struct part part_shared(const struct reduction *reduction, size_t count, size_t workers,
                        size_t worker) {
    size_t granule = line % reduction->bytes == 0 ? line / reduction->bytes : 1,
           granules = (count + granule - 1) / granule;
    size_t from = granules / workers * worker + granules % workers * worker / workers,
           upto = granules / workers * (worker + 1) + granules % workers * (worker + 1) / workers;
    from *= granule, upto *= granule;
    if (upto > count) upto = count;
    return (struct part){from, from < upto ? upto - from : 0};
}

/* A share touches a page of each rank, however short it is, and where ranks share processors their
 * tables are in no cache. EPYC virtual machine with 2 cores, 2026-11, `mortar bench --plan slices`,
 * 64 ranks, 32 KiB, all ranks at work against 8: allreduce 2920 us, 690; scan 3800, 770. 256 KiB,
 * allreduce: shares of 4 KiB 6300-8000 us, of 16 KiB 3600-4200, of 64 KiB 3900-4800. */
size_t workers_of(const struct figures *f, size_t bytes) {
    enum { for_each = 4, long_share = 16 << 10 };
    size_t p = (size_t)f->p, some = for_each * (size_t)f->processors;
    if (some == 0 || some >= p) return p;
    size_t workers = bytes / long_share > some ? bytes / long_share : some;
    return workers < p ? workers : p;
}

struct part part_worked(const struct team *team, const struct reduction *reduction, size_t count,
                        int rank) {
    size_t p = (size_t)team->p, workers = workers_of(&team->figures, count * reduction->bytes);
    size_t worker = (size_t)rank * workers / p;
    if (((size_t)rank + 1) * workers / p == worker) return (struct part){0};
    return part_shared(reduction, count, workers, worker);
}

/* Combines a part of the vectors of all ranks or, with a rung, of those that it stands for. The
 * result is in the last one's vector. */
static void combine_some(const struct team *team, const struct reduction *reduction,
                         const struct vectors *vectors, struct part part, const struct rung *rung) {
    uint32_t count = rung ? rung->width : (uint32_t)team->p;
    size_t strip = strip_elements(reduction);
    for (size_t done = 0; done < part.count; done += strip) {
        size_t now = part.count - done < strip ? part.count - done : strip;
        char *first = vectors->first + (part.first + done) * reduction->bytes, *from = NULL;
        for (uint32_t i = 0; i < count; i++) {
            int rank = rung ? sync_last_below(team, rung, i) : (int)i;
            char *to = first + (size_t)rank * vectors->step;
            if (from) reduction->combine(reduction, from, to, now);
            from = to;
        }
    }
}

void vectors_combine(const struct team *team, const struct reduction *reduction,
                     const struct vectors *vectors, struct part part) {
    combine_some(team, reduction, vectors, part, NULL);
}

void vectors_halve(const struct team *team, const struct reduction *reduction,
                   const struct vectors *vectors, struct part part) {
    size_t strip = strip_elements(reduction);
    for (size_t done = 0; done < part.count; done += strip) {
        size_t now = part.count - done < strip ? part.count - done : strip;
        char *first = vectors->first + (part.first + done) * reduction->bytes;
        for (int width = 1; width < team->p; width *= 2)
            for (int right = width; right < team->p; right += 2 * width) {
                int last = right + width < team->p ? right + width - 1 : team->p - 1;
                reduction->combine(reduction, first + (size_t)(right - 1) * vectors->step,
                                   first + (size_t)last * vectors->step, now);
            }
    }
}

/* From the right: a(0) op (a(1) op ..). Leaves the result in the last vector. domains: first within
 * each of these, then theirs. */
static void vectors_fold(const struct team *team, const struct reduction *reduction,
                         const struct vectors *vectors, struct part part, uint32_t domains) {
    size_t strip = strip_elements(reduction);
    for (size_t done = 0; done < part.count; done += strip) {
        size_t now = part.count - done < strip ? part.count - done : strip;
        char *first = vectors->first + (part.first + done) * reduction->bytes, *result = NULL,
             *last = first + (size_t)(team->p - 1) * vectors->step;
        for (uint32_t d = domains; d-- > 0;) {
            char *partial = NULL;
            for (int r = team->p - 1; r >= 0; r--) {
                char *vector = first + (size_t)r * vectors->step;
                if (domains > 1 && team->domain_of[r] != d) continue;
                if (partial) reduction->combine(reduction, vector, partial, now);
                else partial = vector;
            }
            if (result && partial) reduction->combine(reduction, partial, result, now);
            else if (partial) result = partial;
        }
        if (result != last) memcpy(last, result, now * reduction->bytes);
    }
}

bool combines_at_gates(const struct team *team, const struct call *call) {
    return !among(call->shape.collective, SCANS) &&
           (call->reduction->commutes || !team->seats_differ);
}

int combined_at(const struct team *team) {
    const struct rung *top = &team->rungs[team->rung_count - 1];
    return sync_last_below(team, top, top->width - 1);
}

/* I was the last to arrive at a gate. */
HOT static void combine_met(const struct team *team, const struct reduction *reduction,
                            const struct vectors *vectors, size_t count, bool at_gates) {
    struct part all = {0, count};
    if (at_gates) combine_some(team, reduction, vectors, all, sync_climbed(team));
    else if (sync_is_top(team)) vectors_combine(team, reduction, vectors, all);
}

HOT uint32_t sync_combining(struct team *team, const struct reduction *reduction,
                            const struct vectors *vectors, size_t count, bool at_gates,
                            uint32_t trouble, uint32_t refused) {
    while (!sync_is_top(team)) {
        if (!sync_meet(team, &trouble)) return sync_wait(team);
        if (!(trouble & refused)) combine_met(team, reduction, vectors, count, at_gates);
    }
    return sync_release(team);
}

uint32_t combined_in_turn(const struct figures *f) {
    uint32_t fan = sync_fan(f), combined = 0;
    for (uint32_t count = (uint32_t)f->p; count > 1; count = (count + fan - 1) / fan)
        combined += count < fan ? count : fan;
    return combined;
}

/* ---- through the stage ---- */

SHORT_WAY void stage_in(const struct team *team, const struct call *call, struct part staged) {
    size_t bytes = call->reduction->bytes, length = staged.count * bytes;
    charge_copy(1, length);
    memcpy(stage_of(team, team->epoch & 1, team->me, length), call->send + staged.first * bytes,
           length);
}

/* Copies to my receive buffer those of the staged elements that I receive. mine: my elements; last:
 * the rank in whose slot the reduction of all vectors is. */
HOT static inline void stage_out(const struct team *team, const struct call *call, uint32_t half,
                                 struct part staged, struct part mine, int last) {
    size_t bytes = call->reduction->bytes;
    struct part both = part_common(mine, staged);
    if (both.count == 0) return;
    int slot = last;
    if (call->shape.collective == COLL_scan) slot = team->me;
    else if (call->shape.collective == COLL_exscan) slot = team->me - 1;
    const char *result = stage_of(team, half, slot, staged.count * bytes);
    charge_copy(1, both.count * bytes);
    memcpy(call->recv + (both.first - mine.first) * bytes,
           result + (both.first - staged.first) * bytes, both.count * bytes);
}

static struct vectors staged_vectors(const struct team *team, size_t bytes) {
    char *first = stage_of(team, team->epoch & 1, 0, bytes);
    return (struct vectors){first, (size_t)(stage_of(team, team->epoch & 1, 1, bytes) - first)};
}

/* In reach or not depends on what has moved when, and must not be seen in the digits. So brackets
 * are those of slices.c. */
static uint32_t combine_together(struct team *team, const struct call *call,
                                 const struct vectors *vectors, size_t count, bool by_domains,
                                 uint32_t trouble) {
    const struct reduction *reduction = call->reduction;
    struct part share = part_worked(team, reduction, count, team->me);
    trouble = sync_all(team, trouble);
    if (trouble & LEAVE) return trouble;
    if (by_domains) vectors_fold(team, reduction, vectors, share, team->figures.domains);
    else if (among(call->shape.collective, SCANS))
        vectors_combine(team, reduction, vectors, share);
    else if (call->shape.collective == COLL_reduce) vectors_halve(team, reduction, vectors, share);
    else vectors_fold(team, reduction, vectors, share, 1);
    sync_all(team, 0);
    return trouble;
}

size_t stage_elements(const struct team *team, const struct reduction *reduction) {
    return team->figures.slot / line * line / reduction->bytes;
}

size_t stage_rounds(const struct figures *f, size_t bytes) {
    return bytes > f->slot ? (bytes - 1) / f->slot + 1 : 1;
}

static inline int result_at(const struct team *team, bool at_gates) {
    return at_gates ? combined_at(team) : team->p - 1;
}

HOT enum outcome staged_reduction(struct team *team, const struct call *call, enum brackets how) {
    const struct reduction *reduction = call->reduction;
    size_t count = reduction->count, most = stage_elements(team, reduction);
    struct part mine = part_received(team, call, team->me);
    bool alone = how == ALONE, at_gates = alone && combines_at_gates(team, call);
    if (most == 0) return LEFT;
    for (size_t at = 0, now; at < count; at += now) {
        now = count - at < most ? count - at : most;
        struct part staged = {at, now};
        struct vectors vectors = staged_vectors(team, now * reduction->bytes);
        uint32_t half = team->epoch & 1, trouble = at == 0 ? call->trouble : 0;
        /* With trouble the buffer may not be readable. */
        if (!call->trouble) stage_in(team, call, staged);
        trouble = alone ? sync_combining(team, reduction, &vectors, now, at_gates, trouble, LEAVE)
                        : combine_together(team, call, &vectors, now, how == BY_DOMAINS, trouble);
        if (trouble & LEAVE) return LEFT;
        stage_out(team, call, half, staged, mine, result_at(team, at_gates));
        /* The results lie in the half that was staged two barriers ago, which is written next. */
        if (!alone) sync_all(team, 0);
    }
    return DONE;
}

/* ---- vectors that fit, combined alone: one barrier ---- */

bool fits_the_stage(const struct team *team, const struct call *call,
                    const struct arguments *arguments) {
    (void)arguments;
    return call->reduction->count > 0 &&
           call->reduction->count <= stage_elements(team, call->reduction);
}

SHORT_WAY static uint32_t all_in(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    (void)arguments;
    stage_in(team, call, (struct part){0, call->reduction->count});
    return 0;
}

static void all_met(struct team *team, const struct call *call) {
    const struct reduction *reduction = call->reduction;
    struct vectors vectors = staged_vectors(team, reduction->count * reduction->bytes);
    combine_met(team, reduction, &vectors, reduction->count, combines_at_gates(team, call));
}

SHORT_WAY static enum outcome all_out(struct team *team, const struct call *call,
                                      const struct arguments *arguments, uint32_t half,
                                      uint32_t trouble) {
    (void)arguments;
    if (trouble & LEAVE) return LEFT;
    stage_out(team, call, half, (struct part){0, call->reduction->count},
              part_received(team, call, team->me), result_at(team, combines_at_gates(team, call)));
    return DONE;
}

const struct single reduction_single = {
    .is = fits_the_stage, .before = all_in, .met = all_met, .after = all_out};

size_t vector_bytes(const struct figures *f, const struct shape *shape) {
    return among(shape->collective, SCATTERED) ? shape->bytes * (size_t)f->p : shape->bytes;
}

/* Estimates: calling the operation through the MPI library, which checks its arguments, and 8 GB/s
 * for operands in caches. */
double combine_seconds(size_t bytes) {
    static const double call_seconds = 60e-9, byte_seconds = 1 / 8e9;
    return call_seconds + (double)bytes * byte_seconds;
}
