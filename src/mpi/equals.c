/* SPDX-License-Identifier: BSD-3-Clause */
/* equals - alltoall and allgather, whose blocks are all equal: looks at the types, packs if needed,
 * runs the algorithm. */
#include "mpi/calls.h"

#include <stdlib.h>

/* A side with fewer bytes is packed: telling peers its layout costs a barrier, more than the
 * packing that it saves. */
enum { least_typed = 4 << 10 };

/* One side of a call: the user's memory, and what the algorithm gets, packed bytes or blocks with a
 * layout. */
struct equal_side {
    struct typed typed; /* one block */
    void *user;
    int blocks;
    char *packed; /* scratch; NULL: the user's memory is used */
    struct blocks laid;
};

/* Can the algorithm use this side unpacked, with gaps? A side that is sent must also be readable by
 * peers. Fills side->laid. Each rank decides for itself. */
static bool lies_ready(struct equal_side *side, const struct team *team, size_t bytes, bool sends) {
    if (bytes < least_typed || type_is_run(side->typed.type)) return false;
    struct blocks shown;
    side->laid = (struct blocks){.base = side->user,
                                 .count = side->blocks,
                                 .layout = layout_of(side->typed.type),
                                 .each = (size_t)side->typed.count};
    return side->laid.layout &&
           (!sends || (team->figures.shares && blocks_shown(team, &side->laid, SHOW_ASK, &shown)));
}

HOT static bool scratch(struct equal_side *side, const struct team *team, size_t bytes,
                        bool always) {
    if (type_is_run(side->typed.type) && !always && !side->typed.by_host) return true;
    side->packed = shown_alloc(team, bytes);
    return side->packed != NULL;
}

HOT static void equals_look(const struct request *r, const struct standing *at,
                            struct common *common) {
    (void)at;
    common->bytes = half_bytes(r->send.buffer == MPI_IN_PLACE ? &r->recv : &r->send);
}

/* Over nodes, if the receiver's blocks are longer or shorter than the sender's: unpacks as much of
 * each block as fits. sent: bytes of a packed block. False: not everything fitted. */
static bool unpack_some(const struct equal_side *recv, size_t sent) {
    struct typed part = recv->typed;
    size_t size = 1;
    type_bytes(part.type, &size);
    if (size > 0 && (size_t)part.count > sent / size) part.count = (MPI_Count)(sent / size);
    for (int b = 0; b < recv->blocks; b++)
        move_blocks(&part, (char *)recv->user + b * typed_step(&recv->typed), 1,
                    recv->packed + (size_t)b * sent, false);
    return (size_t)recv->typed.count * size >= sent;
}

/* Lets another plan run a call that this one left, or the host MPI. *outcome becomes DONE if blocks
 * have come, whole or cut. */
static struct answer equals_finish(const struct request *r, struct team *team, struct plan **plan,
                                   const struct call *call, enum outcome *outcome) {
    struct plan *instead = plan_detour(team, &call->shape, *outcome);
    /* Another of mortar's algorithms can run the call at once. */
    if (is_unmade(*outcome) && instead && instead->algorithm->code->run) {
        *plan = instead;
        *outcome = instead->algorithm->code->run(team, call, &instead->arguments);
        instead = plan_detour(team, &call->shape, *outcome);
    }
    if (*outcome == STAGED || *outcome == STAGED_SOON) *outcome = DONE;
    if (*outcome == DONE) return returns(MPI_SUCCESS);
    if (*outcome == FAILED) return fails(blocks_cut ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER);
    struct answer answer = returns(r->native(r));
    bool native = instead && !instead->algorithm->code->run;
    *plan = native ? instead : plan_left(team, &call->shape);
    return answer;
}

HOT static struct answer equals_run(const struct request *r, struct team *team, struct plan **plan,
                                    const struct shape *shape) {
    const struct algorithm_code *code = (*plan)->algorithm->code;
    bool in_place = r->send.buffer == MPI_IN_PLACE;
    size_t n = shape->bytes;
    int all = team->p, mine = r->collective == COLL_alltoall ? all : 1;
    struct equal_side recv = {.typed = {r->recv.type, r->recv.count},
                              .user = (void *)(uintptr_t)r->recv.buffer,
                              .blocks = all};
    struct equal_side send = {.typed = {r->send.type, r->send.count},
                              .user = (void *)(uintptr_t)r->send.buffer,
                              .blocks = mine};
    if (in_place) send = recv, send.blocks = mine;
    if (in_place && mine == 1) send.user = (char *)recv.user + team->me * typed_step(&recv.typed);

    struct call call = {.shape = *shape, .in_place = in_place};
    call.straight = plan_prefers_host(team, &call.shape);
    /* An alltoall in place: peers would read a buffer that is being overwritten. */
    bool rewritten = in_place && mine > 1, copy_first = rewritten && !code->copies_in;
    bool device = on_device(team, send.user, recv.user), near = code->where == ON_NODE;
    /* False: the receive blocks have another size than what is sent. Then the MPI library reports
     * the error to all ranks. Over nodes the call can no longer be left to it, so this rank reports
     * the error. */
    bool fits = in_place || half_bytes(&r->recv) == n;
    bool laid = !device && fits && !rewritten && (near || code->any_layout);
    if (device && !near) send.typed.by_host = recv.typed.by_host = true, device = false;
    if (laid && lies_ready(&recv, team, n * (size_t)all, false)) call.recvs = &recv.laid;
    if (laid && lies_ready(&send, team, n * (size_t)mine, near)) call.sends = &send.laid;
    bool fine = !device && (fits || !near) &&
                (call.recvs || scratch(&recv, team, n * (size_t)recv.blocks, !fits)) &&
                (call.sends || scratch(&send, team, n * (size_t)send.blocks, copy_first));
    if (fine && send.packed) {
        fine = move_blocks(&send.typed, send.user, send.blocks, send.packed, true) == 0;
        call.in_place = false;
    }
    call.send = send.packed ? send.packed : send.user;
    call.recv = recv.packed ? recv.packed : recv.user;
    if (call.sends || call.recvs) call.trouble = TYPED;
    if (!fine) call.trouble = device ? ON_DEVICE : NO_MEMORY;

    blocks_cut = false;
    enum outcome outcome = code->run(team, &call, &(*plan)->arguments);
    struct answer answer = equals_finish(r, team, plan, &call, &outcome);
    if (outcome == DONE && recv.packed && fits &&
        move_blocks(&recv.typed, recv.user, all, recv.packed, false) != 0)
        answer = fails(MPI_ERR_TYPE);
    else if (outcome == DONE && (blocks_cut || (!fits && !unpack_some(&recv, n))))
        answer = fails(MPI_ERR_TRUNCATE);
    shown_free(send.packed);
    shown_free(recv.packed);
    return answer;
}

static struct answer equals_end(const struct request *r, struct team *team, struct plan **plan,
                                const struct call *call, enum outcome outcome) {
    struct answer answer = equals_finish(r, team, plan, call, &outcome);
    return outcome == DONE && blocks_cut ? fails(MPI_ERR_TRUNCATE) : answer;
}

static bool equals_prepare(const struct request *r, struct team *team, struct ready *ready) {
    bool in_place = r->send.buffer == MPI_IN_PLACE, personal = r->collective == COLL_alltoall;
    size_t n = ready->call.shape.bytes;
    if (in_place ? personal : !type_is_run(r->send.type)) return false;
    if (!type_is_run(r->recv.type) || half_bytes(&r->recv) != n) return false;
    ready->call.in_place = in_place;
    ready->call.straight = plan_prefers_host(team, &ready->call.shape);
    return true;
}

const struct family family_exchange = {
    .look = equals_look, .run = equals_run, .prepare = equals_prepare, .end = equals_end};
