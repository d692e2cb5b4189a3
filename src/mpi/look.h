/* SPDX-License-Identifier: BSD-3-Clause */
/* look.h - for known.c, seen.c and take.c: what of a call is compared with earlier ones. */
#ifndef MORTAR_LOOK_H
#define MORTAR_LOOK_H

#include "mpi/calls.h"

/* Equal looks have the same shape. */
struct look {
    MPI_Count sent, received; /* elements of a block, or of all blocks if the sum tells the size */
    MPI_Datatype sent_type, received_type;
    MPI_Op op;
    uint64_t call;    /* in one word: collective, root, is it the _c form, what is in place? */
    uint32_t changes; /* changes.calls */
};

/* Collectives whose counts are compared by their sum. */
#define SUMMED (BIT(allgatherv) | BIT(reduce_scatter))

/* Those of a native team tell nothing, and there may be fewer than it has ranks: an
 * intercommunicator has one for each rank of the other group. */
HOT static inline bool sums_counts(const struct team *team, const struct request *r) {
    return among(r->collective, SUMMED) && r->recv.counts && !team->why_native;
}

HOT static MPI_Count sum_of(const void *counts, int width, int entries) {
    MPI_Count sum = 0;
    for (int i = 0; i < entries; i++) sum += (MPI_Count)entry_of(counts, width, i);
    return sum;
}

HOT static inline uint64_t call_of(const struct request *r) {
    return (uint64_t)(uint32_t)r->root << 32 | (uint64_t)r->large << 8 | r->collective |
           (uint64_t)(r->send.buffer == MPI_IN_PLACE) << 9 |
           (uint64_t)(r->recv.buffer == MPI_IN_PLACE) << 10;
}

/* received: elements of a block, or of all blocks if the sum tells the size. */
HOT static inline struct look look_with(const struct request *r, MPI_Count received) {
    return (struct look){
        .sent = r->send.count,
        .received = received,
        .sent_type = r->send.type,
        .received_type = r->recv.type,
        .op = r->op,
        .call = call_of(r),
        .changes = atomic_load_explicit(&changes.calls, memory_order_acquire)};
}

HOT static inline struct look look_of(const struct team *team, const struct request *r) {
    bool summed = sums_counts(team, r);
    return look_with(r, summed ? sum_of(r->recv.counts, entry_width(r), team->p) : r->recv.count);
}

/* looks_same with the look of this call, whose size is its count of elements; without making that
 * look, which would take more registers than there are. */
HOT static inline bool looks_like(const struct look *look, const struct request *r) {
    return look->changes == atomic_load_explicit(&changes.calls, memory_order_acquire) &&
           look->received == r->recv.count && look->received_type == r->recv.type &&
           look->sent == r->send.count && look->sent_type == r->send.type && look->op == r->op &&
           look->call == call_of(r);
}

HOT static inline bool looks_same(const struct look *a, const struct look *b) {
    return a->sent == b->sent && a->received == b->received && a->sent_type == b->sent_type &&
           a->received_type == b->received_type && a->op == b->op && a->call == b->call &&
           a->changes == b->changes;
}

HOT static inline uint64_t mix_of(const struct look *look) {
    uint64_t sides = (uint64_t)(look->sent + look->received) ^ (uintptr_t)look->received_type << 24;
    return hashed(hashed(sides) ^ look->call);
}

/* False: the call must be examined, since the MPI library may refuse it. */
HOT static inline bool buffers_fit(const struct fit *fit, const struct request *r) {
    const char *sent = r->send.buffer, *received = r->recv.buffer;
    if ((fit->sends && !sent) || (fit->receives && !received)) return false;
    ptrdiff_t apart = sent - received;
    return !(fit->sends && fit->receives && (apart == 0 || apart == fit->own));
}

/* Will the types of such calls mean the same as long as `changes.calls` does? */
static inline bool types_are_steady(const struct fit *fit, const struct request *r) {
    return (!fit->sends || type_is_steady(r->send.type)) &&
           (!fit->receives || type_is_steady(r->recv.type));
}

/* ---- seen.c: calls that the host MPI runs on young communicators ---- */
struct seen {
    size_t bytes; /* of its vector */
    bool rounds;  /* a sum that counts by start_leaves */
};
/* True: a call that was noted looks the same, and the MPI library does not refuse this one for its
 * buffers. Local. */
bool seen_find(const struct request *request, const struct young *young, struct seen *seen);
/* Of a call that was examined, and not refused. Local. */
void seen_note(const struct request *request, const struct young *young, struct seen seen);

#endif
