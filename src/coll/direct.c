/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_direct - every block straight to where it belongs, all messages at once or so many at a time: Irecv-Isend
 * (kumar2008 section 2.4; li2018 section 2.5). direct(window): a rank has at most so many messages of either kind under way.
 * Cost    L + (p - 1) 2 o + (p - 1) n beta;  scratch none.
 * Wins    blocks for which messages are cheap, and few ranks. */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_direct;

enum { TAG };

static double cost(const struct team *team, const struct shape *shape, const struct arguments *arguments) {
    double all = team->p - 1, window = arguments->number && arguments->number < all ? arguments->number : all;
    return burst_seconds(team, shape, all, (double)shape->bytes) + (all / window - 1) * team->network.latency;
}

static enum outcome run(struct team *team, const struct call *call, const struct arguments *arguments) {
    static const struct copier plain = {.kernel = KERNEL_plain};
    struct blocks sends, recvs;
    sides_of(team, call, &sends, &recvs);
    bool personal = is_personal(call->shape.collective);
    int p = team->p, me = team->me, window = arguments->number ? (int)arguments->number : p, error = 0;
    struct block from = block_of(&sends, personal ? me : 0), to = block_of(&recvs, me);
    if (to.at != from.at) relay_block(&to, &from, &plain);
    for (int first = 1; first < p && !error; first += window) {
        int mark = messages_mark(team), end = first + window < p ? first + window : p;
        for (int k = first; k < end && !error; k++) {
            int source = (me + p - k) % p;
            struct run run = run_of(&recvs, source);
            error = message_recv(team, source, run.at, run.bytes, TAG);
        }
        for (int k = first; k < end && !error; k++) {
            int dest = (me + k) % p;
            struct run run = run_of(&sends, personal ? dest : 0);
            error = message_send(team, dest, run.at, run.bytes, TAG);
        }
        int last = messages_finish(team, mark);
        if (!error) error = last;
    }
    return error ? FAILED : DONE;
}

static const char *const variants[] = {"direct", "direct(8)", NULL};

const struct algorithm_code algorithm_direct = {
    .where = BY_MESSAGES, .loose = true, .variants = variants, .cost = cost, .run = run};
