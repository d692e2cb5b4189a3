/* SPDX-License-Identifier: BSD-3-Clause */
/* napping - for scenes with the wait loop itself (src/reach/wait.c): a rank looks at the word, and
 * then naps. What else patience.c may decide, to watch or to yield, is to look again. */
#include "reach/reach.h"

struct vigil vigil_begin(struct patience *patience, uint64_t began) {
    (void)patience, (void)began;
    return (struct vigil){0};
}

struct turn vigil_next(struct patience *patience, struct vigil *vigil, uint64_t now, bool done) {
    (void)patience, (void)vigil, (void)now, (void)done;
    return (struct turn){.what = NAP};
}

bool patience_prompt(struct patience *patience, uint64_t now) {
    (void)patience, (void)now;
    return true;
}

bool patience_leaves(struct patience *patience, uint64_t now) {
    (void)patience, (void)now;
    return false;
}

void vigil_worked(struct vigil *vigil, uint64_t now) { (void)vigil, (void)now; }
void machine_leave_processor(void) {}
uint64_t clock_ticks(void) { return 0; }
