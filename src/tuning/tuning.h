/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning.h - tuning files: which plan was measured to be the fastest, per machine and MPI library.
 * docs/tuning.md describes the format. Knows no team and no algorithm: plans are texts here.
 * Everything is local. */
#ifndef MORTAR_TUNING_H
#define MORTAR_TUNING_H

#include "base/base.h"

/* One cell: blocks of from .. to bytes. */
struct tuning_entry {
    char collective[24], buffers[8]; /* buffers: "heap" or "outside" */
    char plan[64];
    int ranks, nodes, domains; /* domains: memory domains that the ranks sit in */
    size_t from, to;
    /* Of one call of the slowest rank: the median and its 95 % interval. */
    double seconds, interval[2];
    double native_seconds;
    double gain, gain_interval[2]; /* native / plan, the median of the repetitions' ratios */
    int repetitions;
    int fullest; /* ranks on the fullest node, where there are several; 0: not known, fits any */
};

/* What was measured on one machine with one MPI library. */
struct tuning_set {
    struct machine_facts machine;
    char mpi[96], kernel[96], mortar[32], date[32];
    /* Between its nodes; its pairs are 0 where that was not measured. */
    struct network_facts network;
    struct tuning_entry *entries;
    int count;
};

struct tuning_file {
    struct tuning_set *sets;
    int count;
};

/* ---- read.c ---- */
/* Reads a file; -errno and one sentence in why[size], with the place, when it cannot be used. Free
 * it with tuning_free. */
int tuning_read(const char *path, struct tuning_file *file, char *why, size_t size);
int tuning_parse(const char *text, size_t length, struct tuning_file *file, char *why, size_t size);
void tuning_free(struct tuning_file *file);

/* ---- write.c ---- */
/* Writes a file whole or not at all: what was there stays until the new one is complete. A link
 * leads to its file; a device or pipe is refused. 0 or -errno. */
int tuning_write(const char *path, const struct tuning_set *sets, int count);
/* Could it be written now? Asked before long work: 0 or -errno. Local. */
int tuning_writable(const char *path);

/* ---- match.c ---- */
/* What an MPI library is called, from the text of MPI_Get_library_version: "Open MPI v4.1.4",
 * "MPICH 4.0.2". */
void tuning_mpi(const char *version, char name[96]);
/* The head of a set that is measured here and now. */
void tuning_here(struct tuning_set *here, const char *mpi);
/* Was the set measured on such a machine with such an MPI library? If not, why[size] says what
 * differs: "l2 is ... there and ... here". Kernel, mortar and date may differ. */
bool tuning_fits(const struct tuning_set *set, const struct tuning_set *here, char *why,
                 size_t size);
/* The set that fits; NULL: none, and why[size] says what differs in the one that comes nearest. */
const struct tuning_set *tuning_choose(const struct tuning_file *file,
                                       const struct tuning_set *here, char *why, size_t size);
/* The cell for blocks of that many bytes: ranks, nodes, the fullest of several, domains, buffers
 * exactly. NULL: none. */
const struct tuning_entry *tuning_find(const struct tuning_set *set,
                                       const struct tuning_entry *like, size_t bytes);
/* Adds an entry; where it overlaps one of the same cell, the newer one wins. 0 or -ENOMEM. */
int tuning_add(struct tuning_set *set, const struct tuning_entry *entry);
/* Its network, or network_usual where it has none. set may be NULL: no file. */
const struct network_facts *tuning_network(const struct tuning_set *set);
/* Adds all sets of another file; later entries and networks win. 0 or -ENOMEM. */
int tuning_merge(struct tuning_file *into, const struct tuning_file *from);

#endif
