/* SPDX-License-Identifier: BSD-3-Clause */
/* beside - a trial whose results are discarded. The last digits of a floating-point sum depend on
 * the association, and that depends on the plan. So the program's results always come from one
 * plan. Other plans that are to be measured (src/plan/learn.c) run on the same operands, into
 * memory of their own. They run first, since the call may overwrite its operands in place. */
#include "mpi/calls.h"

#include <stdlib.h>

void run_beside(const struct request *r, struct team *team, const struct family *family,
                struct plan *plan, const struct shape *shape) {
    struct plan *rival = plan->beside;
    struct elements elements;
    struct request copy = *r;
    plan->beside = NULL;
    bool fits = elements_of(r->recv.type, r->op, &elements) && !elements.mingled;
    size_t bytes = fits ? elements_received(r, team->me) * (size_t)elements.extent : 0;
    char *memory = malloc(bytes + 1);
    if (!team_agree(team, fits && memory)) {
        plan_spoil(team, shape);
        free(memory);
        return;
    }
    if (r->send.buffer == MPI_IN_PLACE) copy.send.buffer = r->recv.buffer;
    copy.recv.buffer = memory;
    double start = clock_seconds();
    if (rival->algorithm->code->run) family->run(&copy, team, &rival, shape);
    else r->native(&copy);
    rival->timed_seconds = clock_seconds() - start;
    free(memory);
}
