/* SPDX-License-Identifier: BSD-3-Clause */
/* network.h - `mortar bench network`: what the network between two nodes does with messages of one
 * pair of ranks, and of several pairs at once, and what is left when all nodes send
 * (docs/network.md). network.c reads in the order of the work. Source: kumar2008 section 3; LogGP
 * (Alexandrov et al. 1995); Hoefler, Schneider, Lumsdaine 2008. */
#ifndef MORTAR_NETWORK_H
#define MORTAR_NETWORK_H

#include "bench/common/elimination.h"

#include "base/base.h"

/* ---- judge.c: what the figures mean. Local, and knows no MPI ---- */
/* How many of the pairs should carry a node's messages: `least` is the smallest number of pairs of
 * which no other one is clearly faster, by more than a tenth with the whole interval; `best` has
 * the least median. Both index the columns. */
struct verdict {
    int least, best;
    struct estimate gain; /* seconds of the first column / of the best one */
};
/* seconds[column][round]: per message, all pairs of a column together. 0 < columns, 0 < rounds <=
 * most_rounds. */
struct verdict judge(const double *const *seconds, int columns, int rounds);
/* What it means for a collective: "one leader", "4 leaders", "aggregation over all ranks". most:
 * pairs that there are; measured: the largest number of pairs that was. */
const char *verdict_text(int pairs, int measured, int most, char *text, size_t size);
double median_seconds(const double *seconds, int rounds);

#ifdef MPI_VERSION
enum { most_columns = 16, network_window = 64, network_burst = 16, short_bytes = 8 };

/* ---- settings.c ---- */
struct network_settings {
    struct settings sizes;            /* only its block sizes */
    int pairs[most_columns], columns; /* numbers of pairs */
    bool all;                         /* and that of all pairs that there are */
    /* Somebody asked for just these; else for as many of them as there are. */
    bool listed;
    int nodes[2];    /* between which */
    const char *csv; /* NULL: none */
    const char *save;
    double seconds; /* of measuring, per size */
    int rounds;
};
/* As settings_read. */
int network_settings_read(int count, char **words, struct network_settings *settings);

/* ---- pairs.c: the ranks of one node, each with one of the other node ---- */
struct pairs {
    int nodes, most;   /* how many nodes there are, and pairs between the two */
    char between[160]; /* which hosts */
    /* The rank, in the world, that keeps the results: of the first pair, on the first node. */
    int first;
    int place, side; /* which pair I am in, or -1; on which node */
    int partner;     /* its rank in the communicators below */
    bool leads;      /* am I the first rank of my node? */
    /* The largest number of pairs: rank 2 * place + side. MPI_COMM_NULL: I am in none. */
    MPI_Comm both;
    MPI_Comm of[most_columns]; /* [columns] the first so many pairs, the same ranks */
    /* The first ranks of all nodes. MPI_COMM_NULL: I am none of them, or there are two nodes. */
    MPI_Comm leaders;
};
/* Finds them, and completes settings->pairs. 0, or an exit code after the first rank said why not.
 * Collective. */
int pairs_open(const struct world *world, struct network_settings *settings, struct pairs *pairs);
void pairs_close(struct pairs *pairs, const struct network_settings *settings);
/* A barrier in which those who wait long sleep, for ranks that are to stay out of others' way.
 * Collective. */
void polite_barrier(MPI_Comm comm);
/* A barrier before something is timed, and the maximum over ranks. Collective. */
void sharp_barrier(MPI_Comm comm);
double most_of(MPI_Comm comm, double mine);

/* ---- tests.c ---- */
/* What was found: lists of one figure per round, on pairs->first. */
struct figures {
    double *all;
    int rounds, columns;      /* room */
    int done[most_sizes + 3]; /* rounds of each row */
    /* bytes: messages of this size left without their receiver; of that size they did not. 0:
     * none. */
    double eager[2];
};
/* Column 0: latency; from 1 on: seconds per message that leaves a node, by pairs. Row `sizes`:
 * overhead of send and receive. The two rows behind: seconds of a message of a pair of nodes alone,
 * and of all nodes at once, for each of nodes_windows. */
double *figure(const struct figures *figures, int row, int column);
/* Runs all tests. False, on all ranks of the pairs: some rank said what was wrong. Collective among
 * these ranks. */
bool network_measure(const struct pairs *pairs, const struct network_settings *settings,
                     struct figures *figures);
/* Byte number i of all that somebody sends. Local. */
char content(int from, size_t i);
/* Messages of a size that are under way at once, in each direction of each pair. Local. */
int window_of(size_t bytes);

/* ---- nodes.c: all nodes at once ---- */
/* Rows sizes + 1 and sizes + 2, on the world's first rank at least. Collective over pairs->leaders;
 * as network_measure. */
bool network_nodes(const struct pairs *pairs, const struct network_settings *settings,
                   struct figures *figures);
/* Messages of a node that are under way at once. */
extern const int nodes_windows[2];
/* Of these messages; 0: the settings have no long ones. Local. */
size_t nodes_bytes(const struct network_settings *settings);
/* On the world's first rank: a table and what it means; and the ratios, which stay 0 where nothing
 * was measured. */
void nodes_print(const struct network_settings *settings, const struct pairs *pairs,
                 const struct figures *figures);
void nodes_facts_of(const struct network_settings *settings, const struct figures *figures,
                    struct network_facts *facts);

/* ---- output.c: on the world's first rank; local ---- */
void network_print(const struct world *world, const struct network_settings *settings,
                   const struct pairs *pairs, const struct figures *figures);
extern const char network_header[]; /* of the CSV file */
/* 0 or an exit code. */
int network_csv(const struct world *world, const struct network_settings *settings,
                const struct pairs *pairs, const struct figures *figures);

/* ---- facts.c: local ---- */
/* The median of a list. */
double network_middle(const struct figures *figures, int row, int column);
/* What the cost model takes from the figures of the pairs; the ratios of all nodes are 0. */
void network_facts_of(const struct network_settings *settings, const struct pairs *pairs,
                      const struct figures *figures, struct network_facts *facts);

/* ---- network.c ---- */
/* The whole command, with its MPI_Init and MPI_Finalize; words[0] is "network". Returns an exit
 * code. */
int network(int count, char **words);
#endif

#endif
