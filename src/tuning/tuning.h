/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning.h - tuning files: which plan was measured to be the fastest, per machine and MPI library.
 * docs/tuning.md describes the format. Knows no teams and no algorithms: plans are texts here. All
 * functions are local. */
#ifndef MORTAR_TUNING_H
#define MORTAR_TUNING_H

#include "base/base.h"

/* One cell: a collective on a kind of team, with blocks of from .. to bytes. */
struct tuning_entry {
    char collective[24];
    char buffers[8]; /* "heap" or "outside" the shared heap */
    char plan[64];
    int ranks, nodes;
    int domains; /* memory domains that the ranks run in */
    size_t from, to;
    double seconds;                /* of one call on the slowest rank: the median, */
    double interval[2];            /* and its 95 % interval */
    double native_seconds;         /* the same of the host MPI */
    double gain, gain_interval[2]; /* native / plan: the median of the repetitions' ratios */
    int repetitions;
    int fullest; /* over several nodes: ranks on the fullest node; 0: not known, fits any */
};

/* What was measured on one machine with one MPI library. */
struct tuning_set {
    struct machine_facts machine;
    char mpi[96], kernel[96], mortar[32], date[32];
    struct network_facts network; /* between its nodes; pairs == 0: not measured */
    struct tuning_entry *entries;
    int count;
};

struct tuning_file {
    struct tuning_set *sets;
    int count;
};

/* ---- read.c ---- */
/* Reads a file. 0; or -errno, and why[size] says in one sentence what is wrong and where. Free it
 * with tuning_free. */
int tuning_read(const char *path, struct tuning_file *file, char *why, size_t size);
int tuning_parse(const char *text, size_t length, struct tuning_file *file, char *why, size_t size);
void tuning_free(struct tuning_file *file);

/* ---- write.c ---- */
/* Writes a file atomically: the old one stays until the new one is complete. Follows links; refuses
 * devices and pipes. 0 or -errno. */
int tuning_write(const char *path, const struct tuning_set *sets, int count);
/* Checks before long work whether the file can be written. 0 or -errno. */
int tuning_writable(const char *path);

/* ---- update.c ---- */
/* Adds the sets of another file as tuning_merge does, and keeps the rest of what the file has now:
 * several processes may do this at a time. 0 or -errno, and why[size] says in one sentence what is
 * wrong. */
int tuning_update(const char *path, const struct tuning_file *news, char *why, size_t size);

/* ---- match.c ---- */
/* The name of an MPI library, such as "Open MPI v4.1.4" or "MPICH 4.0.2", from the text of
 * MPI_Get_library_version. */
void tuning_mpi(const char *version, char name[96]);
/* Fills in the facts of a set that is measured here and now; no entries. */
void tuning_here(struct tuning_set *here, const char *mpi);
/* True: the set was measured on such a machine with such an MPI library. Otherwise why[size] says
 * what differs, unless size is 0. Kernel, mortar and date may differ. */
bool tuning_fits(const struct tuning_set *set, const struct tuning_set *here, char *why,
                 size_t size);
/* The set that fits; NULL: none, and why[size] says what differs in the most similar one. */
const struct tuning_set *tuning_choose(const struct tuning_file *file,
                                       const struct tuning_set *here, char *why, size_t size);
/* The entry for blocks of `bytes` with the ranks, nodes, fullest, domains and buffers of `like`.
 * NULL: none. */
const struct tuning_entry *tuning_find(const struct tuning_set *set,
                                       const struct tuning_entry *like, size_t bytes);
/* Adds an entry, which replaces older ones where their sizes overlap. 0 or -ENOMEM. */
int tuning_add(struct tuning_set *set, const struct tuning_entry *entry);
/* The network of the set; network_usual if it has none, or if set is NULL. */
const struct network_facts *tuning_network(const struct tuning_set *set);
/* Adds all sets of another file; later entries and networks win. 0 or -ENOMEM. */
int tuning_merge(struct tuning_file *into, const struct tuning_file *from);

#endif
