/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h - private to reach/: messages carried by the host MPI. Include mpi.h first. */
#ifndef MORTAR_WIRE_H
#define MORTAR_WIRE_H

#include <mpi.h>

struct team;

/* ---- wire.c ---- */
/* Sets team->wire, which reaches nobody yet; tags: how many this rank receives under. 0 or -ENOMEM.
 * Local. */
int wire_open(struct team *team, int tags);
/* The first of these tags on the messenger. 0: it has none, or there is no messenger. Local. */
int wire_tag(const struct team *team);
/* From now on the wire reaches this rank of the team: its rank in MPI_COMM_WORLD, and its wire_tag.
 * Local. */
void wire_reaches(struct team *team, int rank, int world, int tag);
/* From now on the wire reaches all, by a communicator of its own. Collective over comm; 0 or -EIO,
 * of this rank alone. */
int wire_apart(struct team *team, MPI_Comm comm);
void wire_close(struct team *team);

/* ---- messenger.c ---- */
/* A communicator with the ranks of MPI_COMM_WORLD; MPI_COMM_NULL: there is none. Local. */
MPI_Comm messenger_comm(void);
/* first .. end - 1: tags on the messenger under which this rank receives the messages of one
 * team. */
struct tags {
    int first, end;
    struct tags *next;
};
/* Those below are for what concerns no single team. */
enum { TAG_MAKING, TAG_FIRST };
/* Takes tags that no other team of this process has, and that were not used lately. 0 or -errno.
 * Thread safe. Local. */
int tags_take(struct tags *mine, int count);
/* Gives them back; nothing if none were taken. No message with them may be under way. */
void tags_give(struct tags *mine);

#endif
