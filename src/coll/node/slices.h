/* SPDX-License-Identifier: BSD-3-Clause */
/* slices.h - private to coll/: the two halves of slices.c, before and after all ranks have met, for
 * algorithms in which they meet in another way. */
#ifndef MORTAR_SLICES_H
#define MORTAR_SLICES_H

#include "coll/coll.h"

/* My side of a call: my result as peers see it, and copies. */
struct view {
    char *recv, *send_copy, *recv_copy, *partial;
    bool levels;             /* reduce within domains first */
    struct part mine, share; /* what I receive, and what I combine */
    size_t strip;            /* elements that I combine at once */
    char *strips;            /* of so many each */
};

/* Writes my post of the next barrier's half, and the view; returns the trouble to meet with. Ends
 * with slices_go or slices_drop. soon: buffers that may move do so now. Local. */
uint32_t slices_post(struct team *team, const struct call *call, bool soon, struct view *view);
/* All ranks have posted in this half, with this trouble of all of them; what they wrote before is
 * visible. Runs the call and frees the view. Collective. */
enum outcome slices_go(struct team *team, const struct call *call, struct view *view, uint32_t half,
                       uint32_t trouble);
/* Frees the view; what was posted is not read. Local. */
void slices_drop(struct view *view);

bool slices_halves(const struct figures *f);
int slices_prepare(struct team *team, const struct arguments *arguments);
double slices_cost(const struct figures *f, const struct shape *shape,
                   const struct arguments *arguments);

#endif
