/* SPDX-License-Identifier: BSD-3-Clause */
/* birth.h - private to reach/: building a team. Include mpi.h first. */
#ifndef MORTAR_BIRTH_H
#define MORTAR_BIRTH_H

#include "reach/host.h"

#include <stdint.h>

struct card;
struct team;
struct young;

/* Memory for the set-up of a team, whose p is set. NULL: there is none. Local. */
struct card *birth_room(struct team *team);

/* Fills in the team of a communicator, of which p and me are set, or sets why_native; one of the
 * two on all ranks. cards: from birth_room, which succeeded on all ranks; is freed. one_node: the
 * ranks are known to share a node. Collective. */
void team_build(struct team *team, MPI_Comm comm, struct card *cards, bool one_node);

/* The lists of a team whose p is set: names and world. False: no memory. Local. */
bool birth_lists(struct team *team);

/* ---- meeting.c: how the ranks of a team under construction meet. All are collective ---- */
struct meeting {
    MPI_Comm comm;      /* has just these ranks; not used if */
    struct team *wired; /* is not NULL: the same ranks, with a wire */
};
/* True if `fine` on all ranks. */
bool meet_agree(const struct meeting *meeting, bool fine);
/* all[r] becomes rank r's `mine`, of so many bytes. 0 or -EIO, of this rank alone. */
int meet_gather(const struct meeting *meeting, const void *mine, void *all, size_t bytes);
/* The same as meet_agree on a communicator. */
bool all_agree(MPI_Comm comm, bool fine);

/* Builds the team of the ranks of one node, which have birth_lists. space: see control_size. room:
 * from birth_room, for at least as many ranks. Returns NULL, or why the team must stay native; the
 * same on all ranks. Collective. */
const char *birth_meet(struct team *team, const struct meeting *meeting, struct card *room,
                       size_t space);

/* ---- over.c ---- */
/* Builds the team of a communicator over several nodes: its places, its wire, and the team of my
 * node. room: from birth_room; holds all ranks' struct home. Returns NULL, or why the team must
 * stay native; the same on all ranks. Collective. */
const char *birth_over(struct team *team, MPI_Comm comm, struct card *room);

/* ---- start.c ---- */
/* Fills in a communicator that is new. NULL, or why the host MPI must run all its calls; the same
 * on all ranks. Collective. */
const char *start_meet(MPI_Comm comm, struct young *young);
/* A team whose calls the host MPI runs for this reason. NULL: no memory. Local. */
struct team *start_native(const struct young *young, const char *why);
/* Call when this process has taken over another rank's settings. Local. */
void start_settings_changed(void);
/* Is it time for a look? Local; the same on all ranks. */
bool start_due(const struct young *young);
/* Does every communicator get its team in its first call? Local; the same on all ranks. */
bool start_at_once(void);
/* The team that takes the place of a young communicator; NULL: it stays young, on all ranks, or is
 * left to the host MPI, on this one. at_once: the team is built whatever it costs. Collective. */
struct team *start_look(struct young *young, MPI_Comm comm, bool at_once);

/* ---- spare.c: teams of communicators that were freed, for the next ones of the same ranks ---- */
/* Keeps a team that is at rest. False: it is the caller's to free. Local. */
bool spare_keep(struct team *team);
/* The numbers in MPI_COMM_WORLD of a communicator's p ranks, which the caller frees. NULL: there
 * are too many, or no memory. Local. */
int *spare_ranks(MPI_Comm comm, int p);
/* Takes the latest spare team of these ranks out, so that no other thread gets it; NULL: none.
 * Local. */
struct team *spare_take(const int *world, int p, int me);
/* Puts it back. Local. */
void spare_back(struct team *team);
/* Stands for these ranks; 0: world is NULL. Local. */
uint64_t spare_group(const int *world, int p);
/* clock_ticks that communicators of such a group took that were freed young; and adds to them. 0
 * stands for no group. Local. */
uint64_t spare_debt(uint64_t group);
void spare_owes(uint64_t group, uint64_t ticks);
/* One spare team that is too many, or any if all; NULL: none. The caller frees it. Local. */
struct team *spare_drop(bool all);

/* Makes the ranks of a communicator without strangers use the same settings (settings.c). NULL, or
 * why it must stay native, the same on all ranks. Collective. */
const char *settings_agree(MPI_Comm comm, int p, int me);

/* Sets team->progress, which drives the host MPI (progress.c). 0 or -errno. Local. */
int progress_start(struct team *team);
void progress_stop(struct team *team);

#endif
