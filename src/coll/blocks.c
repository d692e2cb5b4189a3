/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks - how the ranks of a node learn where each other's blocks lie, and the copy of one
 * block. */
#include "coll/coll.h"

HOT uint32_t publish(struct team *team, const struct call *call, bool others_write) {
    struct post *post = post_of(team, team->epoch & 1, team->me);
    size_t sent = send_bytes(&call->shape, team->p), received = call->shape.bytes * (size_t)team->p;
    uint32_t trouble = call->trouble;
    if (trouble) return trouble; /* no rank will read the post */
    /* An alltoall in place would be read by peers while it is written: it has to be staged. */
    bool moving = call->in_place && call->shape.collective == COLL_alltoall;
    post->send_reachable = team_reaches(team, call->send, sent, &post->send) && !moving;
    post->recv_reachable = team_reaches(team, call->recv, received, &post->recv);
    if (!post->send_reachable) {
        trouble |= SEND_UNREACHABLE | (moving ? MUST_STAGE : 0);
        post->send = (uintptr_t)call->send;
    }
    /* If only I write to it, it may be anywhere: it is posted as an offset all the same, which may
     * wrap around. */
    if (!post->recv_reachable && others_write) {
        trouble |= RECV_UNREACHABLE;
        post->recv = (uintptr_t)call->recv;
    }
    return trouble;
}

HOT void copy_cell(const struct team *team, const struct shape *shape, uint32_t half,
                   struct cell cell, bool writable, const struct copier *copier) {
    const uintptr_t *peers = team->peers[writable];
    uintptr_t from = peers[cell.source] + post_of(team, half, (int)cell.source)->send +
                     cell.dest * send_step(shape);
    uintptr_t to =
        peers[cell.dest] + post_of(team, half, (int)cell.dest)->recv + cell.source * shape->bytes;
    copy_block(copier, (void *)to, (const void *)from, shape->bytes);
}
