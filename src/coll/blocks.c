/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks - the sides of a call as blocks, how the ranks of a node learn where each other's lie, and
 * the copy of one block. */
#include "coll/coll.h"

void sides_of(const struct team *team, const struct call *call, struct blocks *sends,
              struct blocks *recvs) {
    bool personal = is_personal(call->shape.collective);
    struct blocks equal = {.layout = &layout_bytes, .each = call->shape.bytes};
    *sends = *recvs = equal;
    sends->base = (char *)(uintptr_t)call->send;
    sends->count = personal ? team->p : 1;
    recvs->base = call->recv;
    recvs->count = team->p;
    if (call->sends) *sends = *call->sends;
    if (call->recvs) *recvs = *call->recvs;
}

HOT uint32_t publish(struct team *team, const struct call *call, bool others_write) {
    struct post *post = post_of(team, team->epoch & 1, team->me);
    size_t sent = send_bytes(&call->shape, team->p), received = call->shape.bytes * (size_t)team->p;
    uint32_t trouble = call->trouble;
    if (trouble) return trouble; /* no rank will read the post */
    /* An alltoall in place would be read by peers while it is written: it has to be staged. */
    bool moving = call->in_place && call->shape.collective == COLL_alltoall;
    enum shown shown =
        moving ? SHOWN_NEVER : team_shows(team, call->send, sent, SHOW_TO_READERS, &post->send);
    post->send_reachable = shown == SHOWN;
    if (shown != SHOWN) {
        trouble |= SEND_UNREACHABLE | (moving ? MUST_STAGE : 0);
        if (shown == SHOWN_NEVER) trouble |= FOR_GOOD;
        post->send = (uintptr_t)call->send;
    }
    /* If only I write to it, it may be anywhere: it is posted as an offset all the same, which may
     * wrap around. */
    post->recv = (uintptr_t)call->recv - (uintptr_t)team->region;
    post->recv_reachable = false;
    if (!others_write) return trouble;
    shown = team_shows(team, call->recv, received, SHOW_TO_WRITERS, &post->recv);
    post->recv_reachable = shown == SHOWN;
    if (shown != SHOWN) {
        trouble |= RECV_UNREACHABLE;
        if (shown == SHOWN_NEVER) trouble |= FOR_GOOD;
        post->recv = (uintptr_t)call->recv;
    }
    return trouble;
}

HOT void take_back(const struct team *team, const struct call *call, uint32_t half) {
    if (post_of(team, half, team->me)->recv_reachable)
        team_takes_back(team, call->recv, call->shape.bytes * (size_t)team->p);
}

HOT void copy_cell(const struct team *team, const struct shape *shape, uint32_t half,
                   struct cell cell, bool writable, const struct copier *copier) {
    enum { shortest_far = 8 << 10 }; /* longer blocks cost more than their pages */
    const uintptr_t *peers = team->peers[writable];
    uintptr_t source = peers[cell.source];
    uint64_t send = post_of(team, half, (int)cell.source)->send;
    if (team->near && !writable && shape->bytes <= shortest_far)
        source = near_peer(team, (int)cell.source, send, send_bytes(shape, team->p));
    uintptr_t from = source + send + cell.dest * send_step(shape);
    uintptr_t to =
        peers[cell.dest] + post_of(team, half, (int)cell.dest)->recv + cell.source * shape->bytes;
    copy_block(copier, (void *)to, (const void *)from, shape->bytes);
}
