/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - private to mpi/: what all ranks ran, and what was measured about it. */
#ifndef MORTAR_REPORT_H
#define MORTAR_REPORT_H

#include "mpi/calls.h"

#include <stdio.h>

enum { most_late = 3 };

/* The calls of one collective, communicator size, size class and plan. A record of teams has an
 * empty plan: its calls are the number of teams, its seconds the time that a rank spent on setting
 * up its own, and its bytes are unused. */
struct record {
    char collective[24], plan[64], reason[136], source[16];
    int32_t ranks, size_class, nodes;
    int32_t domains; /* memory domains on this rank's node */
    int32_t fullest; /* ranks on the node that has most */
    int32_t members; /* ranks of the world that made such calls */
    uint64_t calls;
    uint64_t most_calls;          /* of the rank that made most; in a record of teams 0 */
    uint64_t bytes;               /* of a block for each call of each rank */
    uint64_t verified, different; /* calls, as in struct tally */
    struct traffic traffic;       /* of all ranks */
    /* Time in these calls, on the rank that spent most. Its calls and the next two times are of the
     * same rank. */
    double seconds;
    /* The part of it spent waiting for ranks that had not entered the call; negative: not known. */
    double late_seconds;
    double inside_seconds; /* the part spent waiting for ranks inside the call */
    /* The ranks that others waited for most, if they stand out; most seconds first. */
    int32_t late_count;
    struct late_rank {
        int32_t rank; /* in MPI_COMM_WORLD */
        /* In how many calls, and how long in all, a rank waited for it: means over those that did,
         * whichever communicators they share with it. */
        uint64_t times;
        double seconds;
        double share; /* of the time that all ranks waited for late ranks in such calls */
    } late[most_late];
    struct evidence evidence; /* native_seconds 0: none */
};

/* A record of something on ranks with these figures; the rest is 0. Local. */
static inline struct record record_on(const struct figures *figures) {
    return (struct record){.ranks = figures->p,
                           .nodes = figures->nodes,
                           .fullest = figures->most,
                           .domains = (int32_t)figures->domains};
}

/* Adds a record to those of freed teams. Local. */
void report_keep(const struct record *record);

/* ---- young.c: communicators without a team, and their calls. All local ---- */
/* A young communicator is freed. */
void young_goes(const struct young *young);
/* Of one that lives. */
struct record young_record(const struct young *young);
/* Keeps records of all that was counted. */
void young_settle(void);

/* Makes one record of those that a table shows alike: the same but for what chose the plan, or
 * where the ranks sit. Returns how many are left. */
int report_join(struct record *records, int count);

/* Merges the records of all ranks. Rank 0 of the world gets and frees them; the others get NULL. 0
 * or -errno. Collective. */
int report_gather(struct record **records, int *count, int *ranks);
/* What has moved into shared memory, on all ranks. */
struct moves {
    uint64_t buffers, bytes;
    double seconds; /* that it took, on the rank that it took longest */
    double repaid;  /* by so many calls on each of the buffers, as is expected of them */
    bool huge_lost; /* it lost its huge pages */
};
/* Fills *moves on rank 0 of the world. Collective. */
void report_moves(struct moves *moves);

/* lateness.c: for how long each other rank of the world waited for late ones, slice by slice of the
 * run: the mean over ranks. */
enum { most_timed = 16 };
struct lateness_found {
    double slice; /* seconds */
    int slices;   /* so far; 0: not known */
    int count;    /* ranks that stand out in a slice, most seconds first */
    int rank[most_timed];
    double seconds[most_timed][timeline_slices], rest[timeline_slices]; /* rest: of all others */
};
/* Fills *found on rank 0 of the world. Collective. */
void report_lateness(struct lateness_found *found);
void lateness_json(FILE *out, const struct lateness_found *found);

/* untaken.c: the calls that mortar does not take and that were made: those of the rank that made
 * most, the seconds of the rank that spent most, and the calls of all ranks. */
enum { most_untaken = 256 };
struct not_taken {
    bool known; /* they were counted */
    int count;
    struct untaken rows[most_untaken];
    uint64_t sums[most_untaken];
};
/* Fills *all on rank 0 of the world. Collective. */
void report_untaken(struct not_taken *all);

#endif
