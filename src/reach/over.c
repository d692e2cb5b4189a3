/* SPDX-License-Identifier: BSD-3-Clause */
/* over - builds the team of a communicator over several nodes. Its ranks have told each other their
 * nodes. They meet on it once more, and tell under which tags they receive messages. From then on
 * they send messages: the ranks of a node, who have no communicator, build their team by these. */
#include "reach/host.h"

#include "reach/birth.h"
#include "reach/reach.h"
#include "reach/wire.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What each rank tells all others. */
struct berth {
    int64_t tag;              /* wire_tag */
    uint64_t wanted, granted; /* bytes of space, see space_of */
};

/* The space of a node is sparse, only touched pages take memory, but each rank maps all of it. A
 * process has 128 TiB of addresses. The program and the heaps of peers shall have half of them.
 * A team gets at most a part of what is left of the others, so that all later ones get some, too.
 * With less than the least no plan would be of use. */
static const uint64_t all_spaces = (uint64_t)64 << 40, least_space = (uint64_t)256 << 20;
enum { space_part = 8 };

static uint64_t space_granted(void) {
    uint64_t taken = control_mapped();
#ifdef MORTAR_SIM
    taken = 0; /* one process is all of them */
#endif
    return taken < all_spaces ? (all_spaces - taken) / space_part / 4096 * 4096 : 0;
}

/* Two halves (team_space), each with room for all that the ranks of any node can send and receive,
 * or what is granted on all ranks; *ample: it is all that is wanted. */
static uint64_t space_of(const struct berth *berths, int p, bool *ample) {
    uint64_t wanted = 0, granted = UINT64_MAX;
    for (int r = 0; r < p; r++) {
        if (berths[r].wanted > wanted) wanted = berths[r].wanted;
        if (berths[r].granted < granted) granted = berths[r].granted;
    }
    *ample = granted >= wanted;
    return *ample ? wanted : granted;
}

/* What a team needs on this rank before it can send messages. */
static int over_prepare(struct team *team, const struct home *homes) {
    int *lowest = malloc((size_t)team->p * sizeof *lowest), error = -ENOMEM;
    team->places = calloc(1, sizeof *team->places);
    team->node = calloc(1, sizeof *team->node);
    if (lowest && team->places && team->node) {
        places_lowest(homes, team->p, lowest);
        error = places_make(team->places, team->p, lowest);
    }
    free(lowest);
    if (error) return error;
    team->fullest = figures_of_node(team->places->most);
    team->figures = figures_over(team->places, &team->fullest);
    team->node->p = ranks_on(team->places, team->places->node_of[team->me]);
    team->node->me = team->places->local_of[team->me];
    return birth_lists(team->node) ? wire_open(team, TAGS * (1 + team->places->most)) : -ENOMEM;
}

/* Opens the wire on all ranks or on none. */
static const char *over_connect(struct team *team, MPI_Comm comm, struct berth *berths) {
    const struct home *homes = (const struct home *)berths;
    bool fine = over_prepare(team, homes) == 0, tagged = true;
    struct berth mine = {.tag = fine ? wire_tag(team) : 0,
                         .wanted = 4 * machine_memory(),
                         .granted = space_granted()};
    if (meet_gather(&(struct meeting){.comm = comm}, &mine, berths, sizeof mine) != 0) fine = false;
    if (!all_agree(comm, fine)) return "out of memory, or a message of the set-up was lost";
    for (int r = 0; r < team->p; r++) tagged = tagged && berths[r].tag > 0;
    for (int r = 0; r < team->p && tagged; r++)
        wire_reaches(team, r, team->world[r], (int)berths[r].tag);
    if (tagged || all_agree(comm, wire_apart(team, comm) == 0)) return NULL;
    return "out of communicators";
}

/* Builds the team of my node. */
static const char *over_settle(struct team *team, struct card *room, size_t space) {
    const struct places *places = team->places;
    struct wire wire = *team->wire;
    struct team wired = {.p = team->node->p,
                         .me = team->node->me,
                         .wire = &wire,
                         .patience = patience_first(team->node->p)};
    /* The same tags: between two ranks messages come in the order of the steps. */
    wire.ranks = places->ranks + places->first[places->node_of[team->me]];
    return birth_meet(team->node, &(struct meeting){.wired = &wired}, room, space);
}

/* A copy of the text that lasts; one for each text. NULL: there are too many. */
static const char *lasting(const char *text) {
    enum { most = 8 };
    static char kept[most][136];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < most && *kept[i] && strcmp(kept[i], text) != 0) i++;
    if (i < most) snprintf(kept[i], sizeof kept[i], "%s", text);
    pthread_mutex_unlock(&lock);
    return i < most ? kept[i] : NULL;
}

/* The reason of the first rank that has one, on all ranks, so that a report has one reason. One of
 * them has a reason. Collective. */
static const char *first_reason(const struct team *team, MPI_Comm comm, const char *why) {
    static const char *const otherwise = "the ranks of a node cannot share memory";
    int mine = why ? team->me : team->p, first;
    char text[136] = "";
    if (host_combine(&mine, &first, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS || first >= team->p)
        return otherwise;
    if (why) snprintf(text, sizeof text, "%s", why);
    bool heard = host.bcast(text, sizeof text, MPI_CHAR, first, comm) == MPI_SUCCESS;
    const char *same = heard ? lasting(text) : NULL;
    return same ? same : otherwise;
}

/* All ranks take rank 0's figures of its node, because choices must not depend on facts that differ
 * between nodes. */
static int agree_on_figures(struct team *team) {
    struct figures figures = team->node->figures;
    int error = messages_tell(team, &figures, sizeof figures);
    team->fullest.processors = figures.processors;
    team->fullest.sync_seconds = figures.sync_seconds;
    team->fullest.usual_sync_seconds = sync_usual(team->fullest.p, figures.processors);
    team->fullest.l2_bytes = figures.l2_bytes;
    team->fullest.l3_bytes = figures.l3_bytes;
    team->fullest.slot = figures.slot;
    team->fullest.space_bytes = figures.space_bytes;
    team->fullest.space_ample = figures.space_ample;
    team->figures = figures_over(team->places, &team->fullest);
    return error;
}

const char *birth_over(struct team *team, MPI_Comm comm, struct card *room) {
    struct berth *berths = (struct berth *)room;
    const char *why = over_connect(team, comm, berths);
    if (why) return why;
    bool ample;
    uint64_t space = space_of(berths, team->p, &ample);
    if (space < least_space) return few_addresses_why;
    why = over_settle(team, room, space);
    if (!all_agree(comm, !why)) return first_reason(team, comm, why);
    team->node->figures.space_ample = ample;
    team_reserve_tables(team->node);
    team->patience = team->node->patience;
    team->ledger = team->node->ledger;
    return all_agree(comm, agree_on_figures(team) == 0) ? NULL
                                                        : "messages between the nodes are lost";
}
