/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_pairwise - in step k a rank exchanges blocks with me ^ k if p is a power of two; else
 * it sends to me + k and receives from me - k (kumar2008 section 2.4). pairwise(window): `window`
 * steps at once.
 * Cost    (p - 1) / window (L + window (2 o + n beta)); scratch none.
 * Wins    long blocks: every link carries one message at a time. */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_pairwise;

enum { TAG = 1 };

static double pairwise_cost(const struct figures *f, const struct shape *shape,
                            const struct arguments *arguments) {
    double steps = f->p - 1, window = arguments->number ? arguments->number : 1;
    if (window > steps) window = steps;
    return steps / window * burst_seconds(f, shape, window, (double)shape->bytes);
}

static enum outcome pairwise_run(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    struct blocks sends, recvs;
    far_begin(team, call, true);
    sides_of(team, call, &sends, &recvs);
    int p = team->p, me = team->me, window = arguments->number ? (int)arguments->number : 1;
    bool paired = (p & (p - 1)) == 0;
    if (!messages_lost(team)) relay_own(&recvs, me, &sends, me);
    for (int first = 1; first < p; first += window) {
        int mark = messages_mark(team), end = first + window < p ? first + window : p;
        for (int k = first; k < end; k++) {
            int source = paired ? me ^ k : (me + p - k) % p;
            int dest = paired ? source : (me + k) % p;
            struct run in = run_of(&recvs, source), out = run_of(&sends, dest);
            message_recv(team, source, in.at, in.bytes, TAG);
            message_send(team, dest, out.at, out.bytes, TAG);
        }
        messages_finish(team, mark);
    }
    return far_end(team);
}

static const char *const variants[] = {"pairwise", "pairwise(4)", NULL};

const struct algorithm_code algorithm_pairwise = {.where = BY_MESSAGES,
                                                  .loose = true,
                                                  .variants = variants,
                                                  .cost = pairwise_cost,
                                                  .run = pairwise_run};
