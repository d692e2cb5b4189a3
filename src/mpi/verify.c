/* SPDX-License-Identifier: BSD-3-Clause */
/* verify - option VERIFY=N: in each class of calls the first and every N-th call that mortar runs
 * is run again by the MPI library, on the same operands, and the two results are compared. The
 * program gets the library's result. After a difference the collective stays with the library on
 * this communicator, on all ranks alike.
 *
 * Both runs use the program's own buffers, so that gaps, absolute addresses and overlapping blocks
 * are no matter: what the call may write is packed before it, and packed again after each run. */
#include "mpi/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- is this call to be verified? ---- */

enum { UNREAD = -1 };
static _Atomic int64_t every = UNREAD;

void verify_settings_changed(void) { atomic_store(&every, UNREAD); }

HOT static uint64_t interval(void) {
    int64_t now = atomic_load_explicit(&every, memory_order_relaxed);
    if (now == UNREAD) atomic_store(&every, now = (int64_t)option_number(OPTION_VERIFY));
    return (uint64_t)now;
}

HOT bool verify_wanted(void) { return interval() > 0; }

/* Can the two results be compared? The same on all ranks. */
static bool is_judged(const struct request *r) {
    if (r->collective == COLL_barrier || (r->large && !host.large)) return false;
    if (!among(r->collective, REDUCTIONS)) return true;
    if (op_is_users(r->op)) return option_choice(OPTION_VERIFY_OPS, "off|on") == 1;
    return comparison_of(r->recv.type) != NEVER;
}

/* ---- what the ranks tell each other ---- */

/* The least number of all ranks; 0 after an error. Collective. */
static int least_of(MPI_Comm comm, int mine) {
    int least = 0;
    return host.allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS ? least : 0;
}

bool library_agrees(MPI_Comm comm, bool fine) { return least_of(comm, fine) > 0; }

/* The lowest rank that says `differs`; p: none. Collective. */
static int lowest_rank(MPI_Comm comm, const struct team *team, bool differs) {
    return least_of(comm, differs ? team->me : team->p);
}

/* ---- what the call reads and writes ---- */

/* Rank 0 of an exscan gets nothing. */
static bool gets_nothing(const struct request *r, int me) {
    return r->collective == COLL_exscan && me == 0;
}

/* How many blocks a side has on this rank. In place the operands of a reduction lie where its
 * results do, which belong to the receive side. */
static int blocks_on(const struct request *r, const struct standing *at, enum which_side side) {
    struct block_counts extent = extent_of(r, at);
    if (side == SENT) return extent.sends;
    return gets_nothing(r, at->me) && r->send.buffer != MPI_IN_PLACE ? 0 : extent.recvs;
}

/* Elements of the one block of a reduction. */
static MPI_Count vector_on(const struct request *r, const struct standing *at,
                           enum which_side side) {
    bool operands = side == SENT || r->send.buffer == MPI_IN_PLACE;
    return (MPI_Count)(operands ? elements_sent(r, at->p) : elements_received(r, at->me));
}

static struct spot spot_at(const struct request *r, const struct standing *at, enum which_side side,
                           int b) {
    const struct half *half = side == SENT ? &r->send : &r->recv;
    MPI_Datatype type = half->types ? half->types[b] : half->type;
    MPI_Count count = half->count;
    MPI_Aint lb, extent = 1;
    bool combines = among(r->collective, REDUCTIONS);
    if (combines) count = vector_on(r, at, side);
    else if (half->counts) count = (MPI_Count)entry_of(half->counts, entry_width(r), b);
    struct spot spot = {.typed = {.type = type, .count = count}};
    if (count == 0) return spot;
    if (!half->types) PMPI_Type_get_extent(type, &lb, &extent);
    MPI_Aint place = b * (MPI_Aint)count;
    if (half->displs) place = (MPI_Aint)entry_of(half->displs, displ_width(r), b);
    spot.at = (char *)(uintptr_t)half->buffer + place * extent;
    type_bytes(type, &spot.bytes);
    spot.bytes *= (size_t)count;
    return spot;
}

bool spots_find(struct spots *spots, const struct request *r, const struct team *team,
                enum which_side side) {
    struct standing at = {.p = team->p, .me = team->me};
    *spots = (struct spots){0};
    if (among(r->collective, NEIGHBORS) && !degrees(r->comm, &at.ins, &at.outs)) return false;
    int count = blocks_on(r, &at, side);
    const void *buffer = side == SENT ? r->send.buffer : r->recv.buffer;
    bool device = on_device(team, NULL, count > 0 ? buffer : NULL);
    spots->list = malloc((size_t)(count + 1) * sizeof *spots->list);
    if (!spots->list) return false;
    for (int b = 0; b < count; b++) {
        struct spot *spot = &spots->list[spots->count++];
        *spot = spot_at(r, &at, side, b);
        spot->typed.by_host = device;
        spots->bytes += spot->bytes;
    }
    return !(device && among(r->collective, REDUCTIONS));
}

bool spots_move(const struct spots *spots, char *packed, bool pack) {
    for (int i = 0; i < spots->count; i++) {
        const struct spot *spot = &spots->list[i];
        if (spot->bytes > 0 && move_blocks(&spot->typed, spot->at, 1, packed, pack) != 0)
            return false;
        packed += spot->bytes;
    }
    return true;
}

/* Gets memory, and keeps what the call may write. False: this rank cannot. */
static bool verify_keep(struct verification *v, const struct team *team) {
    const struct request *r = v->request;
    if (!spots_find(&v->written, r, team, RECEIVED)) return false;
    if (among(r->collective, REDUCTIONS)) {
        bool gets = v->written.count > 0 && !gets_nothing(r, team->me);
        v->sent = elements_sent(r, team->p);
        v->received = gets ? elements_received(r, team->me) : 0;
    }
    size_t bytes = v->written.bytes;
    v->before = malloc(3 * bytes + 1);
    if (!v->before) return false;
    v->ours = v->before + bytes;
    v->theirs = v->ours + bytes;
    return spots_move(&v->written, v->before, true);
}

static void verify_drop(struct verification *v) {
    free(v->written.list);
    free(v->before);
}

bool verify_begin(struct verification *v, const struct request *r, struct team *team,
                  const struct plan *plan, const struct shape *shape) {
    if (!plan->algorithm->code->run || !is_judged(r)) return false;
    if (!plan_due(team, shape, interval())) return false;
    *v = (struct verification){.request = r};
    if (library_agrees(r->comm, verify_keep(v, team))) return true;
    verify_drop(v);
    return false;
}

/* ---- the comparison ---- */

/* Bytes of the results: in a reduction in place the rest are operands. */
static size_t result_bytes(const struct verification *v) {
    if (!among(v->request->collective, REDUCTIONS)) return v->written.bytes;
    size_t each = 0;
    type_bytes(v->request->recv.type, &each);
    return v->received * each;
}

static size_t first_byte(const struct verification *v) {
    size_t bytes = result_bytes(v), at = 0;
    if (bytes == 0 || memcmp(v->ours, v->theirs, bytes) == 0) return bytes;
    while (v->ours[at] == v->theirs[at]) at++;
    return at;
}

/* What rounding may explain: of the elements that differ the first byte of one that another
 * association does not explain. Collective. */
static size_t first_unexplained(struct verification *v, const struct team *team) {
    const struct request *r = v->request;
    struct numbers numbers = numbers_of(r->recv.type);
    size_t bytes = v->sent * numbers.bytes;
    char *sizes = NULL, *sums = NULL;
    if (r->op == MPI_SUM || r->op == MPI_PROD) {
        sizes = malloc(bytes + 1), sums = malloc(bytes + 1);
        if (!library_agrees(r->comm, sizes && sums)) {
            free(sizes), free(sums);
            return 0;
        }
        bool in_place = v->written.count > 0 && r->send.buffer == MPI_IN_PLACE;
        numbers_sizes(numbers, r->op, sizes, in_place ? v->before : r->send.buffer, v->sent);
        struct request copy = *r;
        copy.send.buffer = sizes;
        copy.recv.buffer = sums;
        copy.op = MPI_SUM;
        r->native(&copy);
    }
    size_t at = numbers_unlike(numbers, r->op, v->ours, v->theirs, sums, v->received, team->p);
    free(sizes), free(sums);
    return at * numbers.bytes;
}

/* Are the results floating-point numbers, of which another association explains small
 * differences? */
static bool rounds(const struct request *r) {
    return among(r->collective, REDUCTIONS) && !op_is_users(r->op) &&
           comparison_of(r->recv.type) == BY_VALUE;
}

/* One of the two runs ended with this error, of which the other one knows nothing. */
static void tell_error(const char *where, const char *what, bool ours, int error) {
    char text[1024] = ""; /* the libraries promise at most 512 */
    int length = 0;
    PMPI_Error_string(error, text, &length);
    warn(
        "%s: %s ended with \"%.200s\", %s without an error; from here on the library runs %s there",
        where, ours ? "mortar" : "the MPI library", text, ours ? "the MPI library" : "mortar",
        what);
}

/* Tells what differs, on the rank that has it. at: the byte of the results, or all of them if one
 * of the two runs ended with an error. */
static void verify_tell(const struct verification *v, const struct team *team,
                        const struct plan *plan, size_t at, int our_error, int their_error) {
    char name[MPI_MAX_OBJECT_NAME] = "", where[256];
    int length = 0, b = 0;
    const char *what = collective_names[v->request->collective];
    PMPI_Comm_get_name(v->request->comm, name, &length);
    snprintf(where, sizeof where, "%s, call %u on %.64s of %d ranks, by %s: rank %d", what,
             (unsigned)team->calls, *name ? name : "a communicator", team->p, plan->text, team->me);
    if (at >= result_bytes(v)) {
        bool ours = our_error != MPI_SUCCESS;
        tell_error(where, what, ours, ours ? our_error : their_error);
        return;
    }
    if (rounds(v->request)) {
        struct numbers numbers = numbers_of(v->request->recv.type);
        char ours[64], theirs[64];
        numbers_text(numbers, v->ours + at, ours, sizeof ours);
        numbers_text(numbers, v->theirs + at, theirs, sizeof theirs);
        warn("%s has %s as element %zu, the MPI library %s, which rounding does not explain; from "
             "here on the library runs %s there",
             where, ours, at / numbers.bytes, theirs, what);
        return;
    }
    size_t byte = at;
    while (byte >= v->written.list[b].bytes) byte -= v->written.list[b++].bytes;
    warn("%s has %02x at data byte %zu of block %d, the MPI library %02x; from here on the library "
         "runs %s there",
         where, (uint8_t)v->ours[at], byte, b, (uint8_t)v->theirs[at], what);
}

static _Atomic uint64_t verified, different; /* calls of this process */

void verify_count(uint64_t *calls, uint64_t *differences) {
    *calls = atomic_load(&verified);
    *differences = atomic_load(&different);
}

struct answer verify_end(struct verification *v, struct team *team, struct plan *plan,
                         struct answer ours) {
    const struct request *r = v->request;
    bool fine = spots_move(&v->written, v->ours, true) && spots_move(&v->written, v->before, false);
    struct answer theirs = returns(r->native(r));
    fine = fine && spots_move(&v->written, v->theirs, true);
    bool ours_fails = ours.error != MPI_SUCCESS, theirs_fails = theirs.error != MPI_SUCCESS;
    bool one = ours_fails != theirs_fails;
    size_t all = result_bytes(v);
    size_t at = fine && !ours_fails && !theirs_fails ? first_byte(v) : all;
    int lowest = lowest_rank(r->comm, team, one || at < all);
    if (lowest < team->p && rounds(r)) {
        size_t unexplained = first_unexplained(v, team);
        if (at < all) at = unexplained;
        lowest = lowest_rank(r->comm, team, one || at < all);
    }
    plan->tally.verified++;
    atomic_fetch_add(&verified, 1);
    if (lowest < team->p) {
        plan->tally.different++;
        atomic_fetch_add(&different, 1);
        case_write(v, team, plan);
        if (lowest == team->me) verify_tell(v, team, plan, at, ours.error, theirs.error);
        plan_condemn(team, r->collective);
    }
    verify_drop(v);
    return theirs;
}
