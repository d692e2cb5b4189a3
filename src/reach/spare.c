/* SPDX-License-Identifier: BSD-3-Clause */
/* spare - teams whose communicators were freed, kept for the next communicator of the same ranks.
 * Programs and libraries duplicate a communicator for each of many short tasks, and then the same
 * ranks meet again: shared memory, mapped regions, domains, plans and what trials have found still
 * hold. A team is used again only if all ranks have kept it (start.c asks). Only teams of one node
 * are kept. What the calls of a communicator took that was freed before it had a team counts for
 * the next one of the same ranks. */
#include "reach/host.h"

#include "reach/birth.h"
#include "reach/reach.h"

#include <pthread.h>
#include <stdlib.h>

/* With more ranks than that it takes long to find out which ranks they are: see has_strangers. */
enum { most_spares = 16, most_ranks = 512 };

/* The latest last. New ones get only half of it; the rest is for those that threads took out and
 * put back. */
static struct team *spares[4 * most_spares];
static int spare_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool spare_add(struct team *team, int most) {
    pthread_mutex_lock(&lock);
    bool room = spare_count < most;
    if (room) spares[spare_count++] = team;
    pthread_mutex_unlock(&lock);
    return room;
}

bool spare_keep(struct team *team) { return spare_add(team, 2 * most_spares); }

void spare_back(struct team *team) { spare_add(team, 4 * most_spares); }

/* Takes place i out; under the lock. */
static struct team *spare_remove(int i) {
    struct team *team = spares[i];
    spare_count--;
    for (; i < spare_count; i++) spares[i] = spares[i + 1];
    return team;
}

struct team *spare_drop(bool all) {
    pthread_mutex_lock(&lock);
    bool drops = spare_count > (all ? 0 : most_spares);
    struct team *team = drops ? spare_remove(0) : NULL;
    pthread_mutex_unlock(&lock);
    return team;
}

static bool has_ranks(const struct team *team, int p, int me, const int *world) {
    bool same = team->p == p && team->me == me;
    for (int r = 0; r < p && same; r++) same = team->world[r] == world[r];
    return same;
}

int *spare_ranks(MPI_Comm comm, int p) {
    int *ranks = p <= most_ranks ? malloc(2 * (size_t)p * sizeof *ranks) : NULL;
    MPI_Group group, world;
    if (!ranks) return NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int r = 0; r < p; r++) ranks[p + r] = r;
    PMPI_Group_translate_ranks(group, p, ranks + p, world, ranks);
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return ranks;
}

struct team *spare_take(const int *world, int p, int me) {
    struct team *team = NULL;
    pthread_mutex_lock(&lock);
    for (int i = spare_count - 1; i >= 0 && world && !team; i--)
        if (has_ranks(spares[i], p, me, world)) team = spare_remove(i);
    pthread_mutex_unlock(&lock);
    return team;
}

/* ---- what communicators took that were freed young ---- */

enum { most_debts = 64 };
static struct debt {
    uint64_t group; /* a hash of the ranks; 0: free */
    uint64_t ticks;
} debts[most_debts];
static int debt_next;

uint64_t spare_group(const int *world, int p) {
    uint64_t hash = HASH_START + (uint64_t)p;
    for (int r = 0; r < p && world; r++) hash = (hash ^ (uint64_t)world[r]) * 1099511628211u;
    return world ? hash | 1 : 0;
}

uint64_t spare_debt(uint64_t group) {
    uint64_t ticks = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < most_debts && group; i++)
        if (debts[i].group == group) ticks = debts[i].ticks;
    pthread_mutex_unlock(&lock);
    return ticks;
}

void spare_owes(uint64_t group, uint64_t ticks) {
    if (!group) return;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < most_debts && debts[i].group != group) i++;
    if (i == most_debts) { /* the oldest is forgotten */
        i = debt_next++ % most_debts;
        debts[i] = (struct debt){.group = group};
    }
    debts[i].ticks += ticks;
    pthread_mutex_unlock(&lock);
}
