/* SPDX-License-Identifier: BSD-3-Clause */
/* doubt - the way out for a rank that waits in vain. reach/ledger.c finds two causes. Either the
 * ranks' calls differ, which the MPI standard forbids and MPI libraries mostly report as
 * truncation. Or a rank is dead, and the library goes on without it (ULFM).
 *
 * A waiting rank is deep in an algorithm, and leaves it by longjmp. The algorithm holds only memory
 * then, which is lost with its messages in flight, and the team is not used again. A set-up is left
 * in the same way. If calls differ, every later call on the communicator is an error, because the
 * ranks disagree about which call is next. After a death, later calls go to the MPI library, which
 * reports what the program has to know. */
#include "mpi/calls.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void doubt_describe(struct ledger_entry call, struct ledger_entry other, char text[128]) {
    const char *name = collective_names[call.collective];
    int used = snprintf(text, 128, "MPI_%c%s", toupper(name[0]), name + 1);
    if (call.size_class != other.size_class && call.size_class > 0)
        used += snprintf(text + used, 128 - (size_t)used, " of %zu to %zu bytes",
                         (size_t)1 << (call.size_class - 1),
                         ((size_t)1 << (call.size_class - 1)) * 2 - 1);
    if (call.collective == other.collective && call.root != other.root)
        snprintf(text + used, 128 - (size_t)used, " with root %u", (unsigned)call.root);
}

static void doubt_tell(const struct team *node, const struct doubt *doubt) {
    char mine[128], theirs[128];
    int me = node->world[node->me], other = node->world[doubt->rank];
    unsigned number = doubt->mine.number;
    doubt_describe(doubt->mine, doubt->theirs, mine);
    doubt_describe(doubt->theirs, doubt->mine, theirs);
    if (strcmp(mine, theirs) != 0)
        warn(
            "rank %d calls %s where rank %d calls %s (collective call %u of a communicator): the MPI standard wants them the same",
            me, mine, other, theirs, number);
    else
        warn(
            "rank %d and rank %d run %s differently (collective call %u of a communicator): calls before it had different sizes",
            me, other, mine, number);
}

/* Has the communicator been revoked, as programs do with ULFM when a rank is dead? */
static bool is_revoked(MPI_Comm comm) {
    int revoked = 0;
    return host.comm_is_revoked && host.comm_is_revoked(comm, &revoked) == MPI_SUCCESS && revoked;
}

/* waiting: the team of the call, of its node, or one that is being set up, which has no calls, and
 * which is lost then. */
static void on_doubt(const struct team *waiting) {
    struct inside *here = inside_now();
    if (!here || !here->doubt) return;
    struct team *team = here->team;
    const struct team *known = team ? team : waiting;
    const struct team *node = known->node ? known->node : known;
    struct doubt doubt = node->ledgers ? ledger_doubt(node, team ? team->calls : 0)
                                       : (struct doubt){.what = DOUBT_NONE};
    if (!doubt.what && is_revoked(here->request->comm)) doubt.what = DOUBT_REVOKED;
    if (!doubt.what) return;
    if (doubt.what == DOUBT_DIFFERS && ledger_give_up(node)) doubt_tell(node, &doubt);
    *here->doubt = doubt;
    if (team) {
        free(team->shortcuts);
        team->shortcuts = NULL;
    }
    leap(&here->way_out);
}

struct answer given_up(const struct request *r, struct doubt *doubt) {
    if (doubt->what == DOUBT_DEAD || doubt->what == DOUBT_REVOKED) return returns(r->native(r));
    bool cut = doubt->what == DOUBT_DIFFERS && doubt->mine.collective == doubt->theirs.collective;
    doubt->what = DOUBT_GIVEN_UP;
    return fails(cut ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER);
}

void doubts_start(void) { wait_doubt = on_doubt; }
