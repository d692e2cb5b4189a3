/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_slices - between two barriers each rank combines one slice of all vectors, from the
 * send buffers into the receive buffers (zero-copy); each byte is read once. A buffer out of reach
 * is copied to memory in reach; if a rank has none, all ranks use the stage instead. The
 * association is from the right, a(0) op (a(1) op ...), which needs a copy of the last input only;
 * that of scans is from the left; that of MPI_Reduce by halves, as in arrival.c, which is faster
 * where ranks are late. Results that exceed the caches are written non-temporally
 * (ramesh2024 section V-E). Ranks in several domains of memory first reduce within each (levels.c).
 * Cost    two barriers; p o + 2 n beta per rank, o being the cost of calling the operation.
 * Wins    long vectors. */
#include "coll/node/slices.h"

#include <stdlib.h>

extern const struct algorithm_code algorithm_slices;

enum { most_strips = 32 };

/* Scans take two strips; by halves one waits for each level. */
static size_t strips_needed(const struct team *team) {
    size_t strips = 2;
    for (int ranks = team->p; ranks > 2; ranks = (ranks + 1) / 2) strips++;
    return strips;
}

bool slices_halves(const struct figures *f) { return f->domains < 2; }

int slices_prepare(struct team *team, const struct arguments *arguments) {
    (void)arguments;
    int error = team_map(team, true);
    return error ? error : team_map(team, false);
}

/* EPYC virtual machine with 2 cores, 2026-11, allreduce of 2 to 256 KiB, 4 to 64 ranks: where ranks
 * share processors, what a rank's turn costs besides a barrier's, and a page of a peer. Linux keeps
 * the TLB's entries of six processes. */
static const double turn_seconds = 1.6e-6, page_seconds = 0.3e-6, most_kept = 6;

/* EPYC virtual machine with 2 cores, 2026-11, 2 ranks, 1 to 12 KiB: malloc's blocks of that length
 * are out of reach, so vectors are copied, to memory that has to be found. */
static double copied_seconds(const struct figures *f, double vectors, size_t bytes) {
    static const double find_seconds = 0.4e-6;
    if (bytes >= shown_from) return 0;
    return vectors * find_seconds + vector_copy_seconds(f, vectors, bytes, bytes);
}

double slices_cost(const struct figures *f, const struct shape *shape,
                   const struct arguments *arguments) {
    (void)arguments;
    size_t bytes = vector_bytes(f, shape);
    bool scattered = among(shape->collective, SCATTERED);
    double workers = scattered ? f->p : (double)workers_of(f, bytes), ranks = crowding(f);
    double results = scattered || shape->collective == COLL_reduce ? 1 : f->p;
    size_t slice = (size_t)((double)bytes / workers) + 1;
    double pages = ranks > most_kept ? (f->p + results) * page_seconds : 0;
    double work =
        f->p * combine_seconds(slice) + pages + vector_copy_seconds(f, results, slice, bytes);
    return 2 * f->usual_sync_seconds + (ranks > 1 ? ranks * turn_seconds : 0) +
           ranks * (workers / f->p * work + copied_seconds(f, scattered ? 1 : 2, bytes));
}

/* ---- where the vectors lie ---- */

/* A longer vector out of reach goes through the stage, which stays in the caches. */
enum { most_copied = 256 << 10 };

/* Finds this memory in my region, or allocates a copy that is in reach, born so: of other memory
 * the ends would be shown as they are now, and the copy is written later. False: neither. */
static bool slices_show(const struct team *team, const void *memory, size_t bytes, enum showing how,
                        uint64_t *offset, char **copy) {
    *copy = NULL;
    if (bytes == 0 || team_shows(team, memory, bytes, how, offset) == SHOWN) return true;
    if (team->region_bytes > 0 && bytes <= most_copied) *copy = shown_born(0, bytes);
    return *copy && team_shows(team, *copy, bytes, how, offset) == SHOWN;
}

uint32_t slices_post(struct team *team, const struct call *call, bool soon, struct view *view) {
    const enum showing moves = soon ? SHOW_NOW : 0;
    const struct reduction *reduction = call->reduction;
    struct post *post = post_of(team, team->epoch & 1, team->me);
    *view = (struct view){.recv = call->recv, .mine = part_received(team, call, team->me)};
    if (call->trouble & LEAVE) return call->trouble;
    size_t all = reduction->count * reduction->bytes,
           received = view->mine.count * reduction->bytes;
    view->share = among(call->shape.collective, SCATTERED)
                      ? view->mine
                      : part_worked(team, reduction, reduction->count, team->me);
    view->strip = strip_elements(reduction);
    if (view->strip > view->share.count) view->strip = view->share.count;
    size_t room = strips_needed(team) * view->strip * reduction->bytes;
    view->strips = room > 0 ? malloc(room) : NULL;
    uint32_t trouble = view->strips || room == 0 ? 0 : NO_MEMORY;
    if (!slices_show(team, call->send, all, SHOW_TO_READERS | moves, &post->send,
                     &view->send_copy))
        trouble |= SEND_UNREACHABLE;
    if (among(call->shape.collective, SCATTERED)) {
        /* Only I write there. In place it lies where others read my vector. */
        if (call->in_place && received > 0 && !(view->recv_copy = malloc(received)))
            trouble |= NO_MEMORY;
    } else if (!slices_show(team, view->recv, received, SHOW_TO_WRITERS | moves, &post->recv,
                            &view->recv_copy)) {
        trouble |= RECV_UNREACHABLE;
    }
    view->levels = levels_pay(team, call);
    if (view->levels) trouble |= levels_post(team, reduction, team->epoch & 1, &view->partial);
    if (trouble == 0 && view->send_copy) memcpy(view->send_copy, call->send, all);
    if (view->recv_copy) view->recv = view->recv_copy;
    return trouble;
}

void slices_drop(struct view *view) {
    shown_free(view->send_copy);
    shown_free(view->recv_copy);
    free(view->strips);
    shown_free(view->partial);
}

/* ---- combining ---- */

struct slices_task {
    const struct team *team;
    const struct reduction *reduction;
    uint32_t half;
    const struct view *view;
    struct copier copier;
};

static char *strip_at(const struct slices_task *task, int number) {
    return task->view->strips + (size_t)number * task->view->strip * task->reduction->bytes;
}

static const char *vector_at(const struct slices_task *task, int rank, size_t element) {
    return posted_vector(task->team, task->half, rank) + element * task->reduction->bytes;
}

static void slices_put(const struct slices_task *task, int rank, size_t element, const char *from,
                       size_t count) {
    size_t bytes = task->reduction->bytes;
    uintptr_t to =
        task->team->peers[1][rank] + post_of(task->team, task->half, rank)->recv + element * bytes;
    copy_block(&task->copier, (void *)to, from, count * bytes);
}

/* Combines the partial results of the domains, which lie in pieces, into the first strip. */
static char *combine_partials(const struct slices_task *task, size_t at, size_t count) {
    const struct reduction *reduction = task->reduction;
    for (uint32_t d = task->team->figures.domains; d-- > 0;)
        for (size_t done = 0, now; done < count; done += now) {
            const char *from;
            char *to = strip_at(task, 0) + done * reduction->bytes;
            now = levels_at(task->team, reduction, task->half, d, at + done, &from);
            if (now > count - done) now = count - done;
            if (d + 1 == task->team->figures.domains) memcpy(to, from, now * reduction->bytes);
            else reduction->combine(reduction, from, to, now);
        }
    return strip_at(task, 0);
}

/* Combines elements at .. at + count of all vectors into a strip. */
static char *combine_strip(const struct slices_task *task, size_t at, size_t count) {
    const struct reduction *reduction = task->reduction;
    int i = task->team->p - 1;
    char *strip = strip_at(task, 0);
    memcpy(strip, vector_at(task, i, at), count * reduction->bytes);
    while (--i >= 0) reduction->combine(reduction, vector_at(task, i, at), strip, count);
    return strip;
}

/* Combines the two latest of the strips in `waiting`. */
static void halve(const struct slices_task *task, char **waiting, int *waits, size_t count) {
    char **left = &waiting[*waits - 2], *both = waiting[*waits - 1];
    task->reduction->combine(task->reduction, *left, both, count);
    waiting[*waits - 1] = *left;
    *left = both;
    --*waits;
}

/* The same by halves: as many strips wait as the number of pairs so far has binary ones. */
static char *halve_strip(const struct slices_task *task, size_t at, size_t count) {
    const struct reduction *reduction = task->reduction;
    char *waiting[most_strips];
    int p = task->team->p, waits = 0, made = 0;
    for (int i = 0; i < p; i += 2) {
        if (waits == made) waiting[made] = strip_at(task, made), made++;
        char *to = waiting[waits++];
        int last = i + 1 < p ? i + 1 : i;
        memcpy(to, vector_at(task, last, at), count * reduction->bytes);
        if (last > i) reduction->combine(reduction, vector_at(task, i, at), to, count);
        for (int pair = i / 2; pair & 1; pair >>= 1) halve(task, waiting, &waits, count);
    }
    while (waits > 1) halve(task, waiting, &waits, count);
    return waiting[0];
}

/* Writes each rank's prefix. In place a vector is read before its rank's result overwrites it. */
static void scan_strip(const struct slices_task *task, size_t at, size_t count, bool exclusive) {
    const struct reduction *reduction = task->reduction;
    char *before = strip_at(task, 0), *now = strip_at(task, 1);
    for (int i = 0; i < task->team->p; i++) {
        memcpy(now, vector_at(task, i, at), count * reduction->bytes);
        if (exclusive && i > 0) slices_put(task, i, at, before, count);
        if (i > 0) reduction->combine(reduction, before, now, count);
        if (!exclusive) slices_put(task, i, at, now, count);
        char *other = before;
        before = now, now = other;
    }
}

static void slices_work(const struct slices_task *task, const struct call *call) {
    const struct reduction *reduction = task->reduction;
    const struct view *view = task->view;
    enum collective c = call->shape.collective;
    struct part share = view->share;
    for (size_t done = 0, now; done < share.count; done += now) {
        size_t at = share.first + done;
        now = share.count - done < view->strip ? share.count - done : view->strip;
        if (among(c, SCANS)) {
            scan_strip(task, at, now, c == COLL_exscan);
            continue;
        }
        const char *result = view->levels       ? combine_partials(task, at, now)
                             : c == COLL_reduce ? halve_strip(task, at, now)
                                                : combine_strip(task, at, now);
        if (among(c, SCATTERED))
            copy_block(&task->copier, view->recv + done * reduction->bytes, result,
                       now * reduction->bytes);
        else if (c == COLL_reduce) slices_put(task, call->root, at, result, now);
        for (int k = 0; c == COLL_allreduce && k < task->team->p; k++)
            slices_put(task, (task->team->me + k) % task->team->p, at, result, now);
    }
}

/* Non-temporal stores for vectors too long to stay in the caches until the results are read. */
static struct copier copier_for(const struct team *team, const struct reduction *reduction) {
    size_t vectors = 2 * (size_t)team->p;
    bool past = team->figures.l3_bytes > 0 &&
                reduction->count * reduction->bytes > team->figures.l3_bytes / vectors &&
                kernels[KERNEL_nt].usable();
    return (struct copier){.kernel = past ? KERNEL_nt : KERNEL_plain};
}

enum outcome slices_go(struct team *team, const struct call *call, struct view *view, uint32_t half,
                       uint32_t trouble) {
    const struct reduction *reduction = call->reduction;
    enum outcome outcome = DONE;
    if (trouble & LEAVE) {
        outcome = LEFT;
    } else if (trouble) {
        outcome = staged_reduction(team, call, view->levels ? BY_DOMAINS : AS_ONE);
        if (outcome == DONE) outcome = STAGED;
    } else {
        if (view->levels) {
            levels_combine(team, reduction, half);
            sync_all(team, 0);
        }
        slices_work(
            &(struct slices_task){team, reduction, half, view, copier_for(team, reduction)}, call);
        /* No rank returns while its send buffer is read or its receive buffer written. */
        sync_all(team, 0);
        if (!among(call->shape.collective, SCATTERED))
            team_takes_back(team, view->recv, view->mine.count * reduction->bytes);
        if (view->recv_copy)
            memcpy(call->recv, view->recv_copy, view->mine.count * reduction->bytes);
    }
    slices_drop(view);
    return outcome;
}

static enum outcome slices_run(struct team *team, const struct call *call,
                               const struct arguments *arguments) {
    (void)arguments;
    struct view view;
    uint32_t half = team->epoch & 1, trouble = slices_post(team, call, false, &view);
    trouble = sync_all(team, trouble);
    return slices_go(team, call, &view, half, trouble);
}

const struct algorithm_code algorithm_slices = {.copies_in = true,
                                                .halves = slices_halves,
                                                .prepare = slices_prepare,
                                                .cost = slices_cost,
                                                .run = slices_run};
