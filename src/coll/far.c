/* SPDX-License-Identifier: BSD-3-Clause */
/* far - shared by the algorithms that send messages: routines inside a plan, costs. Costs follow
 * LogGP with limits per node: overhead o of a rank for each message it sends or receives, latency
 * L, a gap between the messages of a node's ranks, and seconds per byte of one rank and of a node,
 * which grow when all nodes send at once. A rank prepares the next message while one is in flight,
 * so the cost of a burst is that of the slower of the two, rank or link. */
#include "coll/coll.h"

#include <errno.h>
#include <limits.h>

void far_begin(struct team *team, const struct call *call, bool ends_here) {
    messages_begin(team, call->trouble & LEAVE, ends_here);
}

enum outcome far_end(struct team *team) {
    const struct fate *fate = team->wire->fate;
    scratch_drop(team);
    if (fate->cut) blocks_cut = true;
    return fate->lost ? FAILED : DONE;
}

char *far_take(struct team *team, size_t bytes) {
    char *memory = scratch_take(team, bytes);
    if (!memory) messages_lose(team);
    return memory;
}

size_t block_between(const struct team *team, const struct call *call, int source, int dest) {
    if (call->bytes_between) return call->bytes_between(call, source, dest);
    if (among(call->shape.collective, BIT(alltoall) | BIT(allgather))) return call->shape.bytes;
    if (call->shape.collective == COLL_allgatherv) return run_of(call->recvs, source).bytes;
    if (dest == team->me) return run_of(call->recvs, source).bytes;
    return source == team->me ? run_of(call->sends, dest).bytes : SIZE_MAX;
}

/* ---- routines ---- */

int routine_prepare(const struct routine *routine, struct team *team) {
    const struct algorithm_code *code = routine->algorithm->code;
    if (!code->run)
        return team->wire->carrier->prepare ? team->wire->carrier->prepare(team->wire->state, team)
                                            : -ENOSYS;
    return code->prepare ? code->prepare(team, &routine->arguments) : 0;
}

bool inside_counts(const struct arguments *arguments, double bytes) {
    return arguments->inner->algorithm->code->run || bytes <= INT_MAX;
}

enum outcome routine_run(const struct routine *routine, struct team *team,
                         const struct call *call) {
    const struct algorithm_code *code = routine->algorithm->code;
    if (code->run) return code->run(team, call, &routine->arguments);
    int error = team->wire->carrier->collective(team->wire->state, team, call);
    static const struct arguments at_once = {0};
    /* All ranks got this. */
    if (error == -EOVERFLOW) return algorithms[ALGORITHM_direct].code->run(team, call, &at_once);
    if (error == -EMSGSIZE) blocks_cut = true;
    return error ? FAILED : DONE;
}

double routine_cost(const struct routine *routine, const struct figures *f,
                    const struct shape *shape) {
    const struct algorithm_code *code = routine->algorithm->code;
    return code->cost ? code->cost(f, shape, &routine->arguments) : -1;
}

/* ---- lanes ---- */

int lanes_prepare(struct team *team, const struct arguments *arguments, int lanes) {
    int error = 0;
    for (int l = 0; l < lanes && l < team->places->most; l++) {
        struct team *lane = team_lane(team, l);
        if (!messages_agree(team, lane != NULL)) return -ENOMEM;
        if (lane->me >= 0 && routine_prepare(arguments->inner, lane) != 0) error = -EIO;
    }
    return messages_agree(team, error == 0) ? 0 : -EIO;
}

/* ---- costs ---- */

static double ranks_beside(const struct figures *f, const struct shape *shape) {
    return shape->beside ? shape->beside : f->most;
}

/* With static routes some links carry messages of several nodes while others carry none; effective
 * bisection bandwidth measures this (Hoefler, Schneider, Lumsdaine 2008). Many messages at once to
 * different nodes even it out: one message of a burst pays the factor `one`, the others `many`.
 * Simulated, fat tree of 256 nodes in any order, against a pair of nodes alone: one message at a
 * time takes 2.5 times as long; of 2 at once each 2.0 to 2.1 times, 3 1.9, 4 1.8, 8 1.6 to 1.8, 15
 * 1.7. */
static double contention(const struct network *net, double messages) {
    return 1 + net->many + (net->one - net->many) / (messages > 1 ? messages : 1);
}

/* Seconds of the link for each of `messages` messages that are in flight at once. */
static double bytes_seconds(const struct network *net, double beside, double messages,
                            double bytes) {
    return contention(net, messages) * bytes *
           (net->byte > beside * net->node_byte ? net->byte : beside * net->node_byte);
}

double burst_seconds(const struct figures *f, const struct shape *shape, double messages,
                     double bytes) {
    const struct network *net = &f->network;
    double o = net->overhead, first = o + net->latency, beside = ranks_beside(f, shape);
    double link = bytes_seconds(net, beside, messages, bytes), all = beside * net->gap;
    if (messages < 1) return net->latency + messages * (2 * o + (link > all ? link : all));
    /* A rank receives after it has sent all, and not before the first message has arrived. */
    double by_rank = (messages * o > first + link ? messages * o : first + link) + messages * o;
    double by_link = first + messages * (link > all ? link : all) + o;
    return by_rank > by_link ? by_rank : by_link;
}

double steps_seconds(const struct figures *f, const struct shape *shape, double steps,
                     double bytes) {
    return steps * burst_seconds(f, shape, 1, bytes);
}
