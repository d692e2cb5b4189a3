/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_direct - every block goes to its receiver in its own message, all at once or a window
 * at a time: Irecv-Isend (kumar2008 section 2.4; li2018 section 2.5). direct(window): a rank has at
 * most `window` sends and as many receives in flight.
 * Cost    L + (p - 1) 2 o + (p - 1) n beta;  scratch none.
 * Wins    blocks so long that the cost per message does not matter, and few ranks. */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_direct;

enum { TAG };

static double direct_cost(const struct figures *f, const struct shape *shape,
                          const struct arguments *arguments) {
    double all = f->p - 1,
           window = arguments->number && arguments->number < all ? arguments->number : all;
    return all / window * burst_seconds(f, shape, window, (double)shape->bytes);
}

/* If all ranks know the block size, they send and receive messages of that size, even if the root's
 * block is empty. */
static struct run root_run(struct team *team, const struct call *call, const struct blocks *blocks,
                           int rank) {
    struct run run = run_of(blocks, rank);
    if (run.bytes > 0 || call->shape.unsized || call->shape.bytes == 0) return run;
    if (among(call->shape.collective, GATHERS)) blocks_cut = true;
    messages_lose(team);
    return (struct run){run.at, call->shape.bytes};
}

/* Gathers and scatters: the root exchanges one message with every other rank. */
static enum outcome rooted(struct team *team, const struct call *call,
                           const struct arguments *arguments, bool gathers) {
    const struct blocks *many = gathers ? call->recvs : call->sends;
    const struct blocks *one = gathers ? call->sends : call->recvs;
    int mark = messages_mark(team), p = team->p, root = call->root;
    struct run mine = one->count > 0 ? run_of(one, 0) : (struct run){0};
    if (team->me != root && gathers) message_send(team, root, mine.at, mine.bytes, TAG);
    else if (team->me != root) message_recv(team, root, mine.at, mine.bytes, TAG);
    for (int k = 1; k < p && team->me == root; k++) {
        int rank = (root + k) % p;
        struct run run = root_run(team, call, many, rank);
        if (gathers) message_recv(team, rank, run.at, run.bytes, TAG);
        else message_send(team, rank, run.at, run.bytes, TAG);
        if (arguments->number && k % (int)arguments->number == 0) messages_finish(team, mark);
    }
    if (team->me == root && one->count > 0 && !messages_lost(team)) {
        if (gathers) relay_own(many, root, one, 0);
        else relay_own(one, 0, many, root);
    }
    messages_finish(team, mark);
    return far_end(team);
}

static enum outcome direct_run(struct team *team, const struct call *call,
                               const struct arguments *arguments) {
    far_begin(team, call, true);
    if (among(call->shape.collective, GATHERS | SCATTERS))
        return rooted(team, call, arguments, among(call->shape.collective, GATHERS));
    struct blocks sends, recvs;
    sides_of(team, call, &sends, &recvs);
    bool personal = is_personal(call->shape.collective);
    int p = team->p, me = team->me, window = arguments->number ? (int)arguments->number : p;
    if (!messages_lost(team)) relay_own(&recvs, me, &sends, personal ? me : 0);
    for (int first = 1; first < p; first += window) {
        int mark = messages_mark(team), end = first + window < p ? first + window : p;
        for (int k = first; k < end; k++) {
            int source = (me + p - k) % p;
            struct run run = run_of(&recvs, source);
            message_recv(team, source, run.at, run.bytes, TAG);
        }
        for (int k = first; k < end; k++) {
            int dest = (me + k) % p;
            struct run run = run_of(&sends, personal ? dest : 0);
            message_send(team, dest, run.at, run.bytes, TAG);
        }
        messages_finish(team, mark);
    }
    return far_end(team);
}

/* A limit of 32 in flight costs next to nothing, and among thousands of ranks none posts thousands
 * of receives (MPICH does the same). */
static const char *const variants[] = {"direct(32)", "direct(8)", NULL};

const struct algorithm_code algorithm_direct = {.where = BY_MESSAGES,
                                                .loose = true,
                                                .variants = variants,
                                                .cost = direct_cost,
                                                .run = direct_run};
