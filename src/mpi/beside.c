/* SPDX-License-Identifier: BSD-3-Clause */
/* beside - a trial whose results are discarded. The last digits of a floating-point sum depend on
 * the association, and that depends on the plan. So the program's results always come from one
 * plan. Other plans that are to be measured (src/plan/learn.c) run on the same operands, into
 * memory of their own. They run first, since the call may overwrite its operands in place.
 *
 * The ranks agree on the memory in the first of the calls only: where ranks may run ahead of each
 * other a barrier in each would have all of them wait for the latest, and the rival would be
 * measured as if no rank came late. */
#include "mpi/calls.h"

#include <stdlib.h>

static void end(struct aside *aside) {
    free(aside->memory);
    aside->memory = NULL;
}

/* All ranks have memory for this call and what follows it in its class, whose sizes differ by less
 * than twice. Collective. */
static bool begin(struct aside *aside, struct team *team, size_t bytes, bool fits) {
    double start = clock_seconds();
    end(aside); /* of a pair that was dropped */
    aside->bytes = 2 * bytes;
    if (fits) aside->memory = malloc(aside->bytes + 1);
    bool fine = team_agree(team, aside->memory != NULL);
    aside->waited = clock_seconds() - start;
    return fine;
}

void run_beside(const struct request *r, struct team *team, const struct family *family,
                struct plan *plan, const struct shape *shape) {
    struct plan *rival = plan->beside;
    struct aside *aside = &rival->aside;
    struct elements elements;
    struct request copy = *r;
    plan->beside = NULL;
    /* Type, operation and sum of the counts are the same on all ranks, and so is what follows. */
    bool fits = elements_of(r->recv.type, r->op, &elements) && !elements.mingled;
    size_t bytes = fits ? elements_sent(r, team->p) * (size_t)elements.extent : 0;
    bool fine = aside->call == 0 ? begin(aside, team, bytes, fits)
                                 : fits && aside->memory && bytes <= aside->bytes;
    if (!fine) {
        plan_spoil(team, shape);
        end(aside);
        return;
    }
    if (r->send.buffer == MPI_IN_PLACE) copy.send.buffer = r->recv.buffer;
    copy.recv.buffer = aside->memory;
    double start = clock_seconds();
    if (rival->algorithm->code->run) family->run(&copy, team, &rival, shape);
    else r->native(&copy);
    rival->timed_seconds = clock_seconds() - start;
    if (aside->call + 1 == aside->calls) end(aside);
}
