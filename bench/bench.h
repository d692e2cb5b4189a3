/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - `mortar bench`: the MPI library's own collective, mortar's plans and the limit of the machine, verified and then timed
 * in turns within one process. main.c reads in the order of the work. Functions are collective, unless they say local. */
#ifndef MORTAR_BENCH_H
#define MORTAR_BENCH_H

#include "base/base.h"

#include <mpi.h>

/* ---- settings.c ---- */
enum { most_sizes = 64, most_plans = 32 };

/* A collective that can be measured; `call` is the name that any program calls. */
struct kind {
    const char *name, *symbol; /* "alltoall", "PMPI_Alltoall" */
    bool same_to_all;          /* one block for everybody, not one each */
    int (*call)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
};

struct settings {
    const struct kind *kind;
    size_t bytes[most_sizes]; /* block sizes */
    int sizes;
    const char *plans[most_plans];
    int plan_count;
    const char *csv; /* NULL: none */
    bool stack, limit;
    bool counters;
    bool cold, sweep; /* sweep: do not flush single lines even where the processor can */
    double seconds;   /* of measuring, per block size */
    int repetitions;  /* 0: what fits into seconds */
};

/* Reads the command line before MPI_Init; the first rank says what is wrong. Local. -1: go on, else the exit code. */
int settings_read(int count, char **words, struct settings *settings);
/* Its pieces, for the command line of `mortar tune`. settings_fail: only the first rank speaks, and only it gets an exit code that
 * is an error: a launcher kills the others at the first one it sees. */
extern const char *settings_command; /* "bench" or "tune" */
int settings_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool settings_sizes(const char *text, struct settings *settings);
bool settings_number(const char *text, double least, double most, double *number);
const struct kind *settings_kind(const char *name); /* NULL: none of that name */

/* ---- world.c: where we are ---- */
/* plan and report are those of mortar.h, NULL when mortar is not loaded; native is the MPI library's own function. */
struct world {
    MPI_Comm comm; /* all ranks; what is measured runs on it */
    int p, me, nodes;
    int processors;   /* of this node that its ranks may use */
    bool crowded;     /* more ranks than processors, on some node */
    bool loaded;      /* mortar serves this MPI */
    const char *heap; /* why peers cannot reach what malloc gives; NULL: they can */
    char mpi[96], machine[128];
    int (*plan)(const char *), (*report)(const char *);
    int (*native)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
};

/* Fills *world. 0, or 1 after the first rank said why there is nothing to measure. */
int world_look(struct world *world, const struct kind *kind);
/* The first rank says in one line what makes the figures less than they seem. */
void world_warn(const struct world *world);
/* Bytes of memory that this node can still give. Local. */
uint64_t world_memory(void);

/* ---- shared.c: what ranks of one node share beside MPI ---- */
/* Zeroed memory that all ranks map, nobody's pages touched yet; NULL on all ranks when one of them cannot. */
void *shared_map(size_t bytes);
void shared_unmap(void *memory, size_t bytes);

/* ---- meet.c: how batches are kept apart, outside of what is measured ---- */
void meet_open(const struct world *world);
/* A barrier that costs about a context switch per rank, also where the MPI library's own costs time slices. */
void meet(void);
/* The maximum over ranks; a meeting as well. */
double meet_max(double value);

/* All ranks get the first one's value, when all are here. */
int meet_first(int value);

/* ---- cell.c: the buffers of one block size, and what must be in them ---- */
struct cell {
    const struct kind *kind;
    size_t bytes; /* of one block */
    int p, me;
    char *send, *recv;
    bool stack; /* memory outside the heap */
};
size_t cell_send_bytes(const struct cell *cell);
size_t cell_recv_bytes(const struct cell *cell);
/* Gets the buffers: true when all ranks have them. */
bool cell_open(struct cell *cell);
void cell_close(struct cell *cell);
/* Writes the blocks that this rank sends, or what no rank sends into where it receives. Local. */
void cell_fill(const struct cell *cell, char *send);
void cell_poison(const struct cell *cell, char *recv);
/* The first byte of recv that is wrong; -1: none. Local. */
long long cell_wrong(const struct cell *cell, const char *recv);

/* ---- limit.c: the same exchange with nothing but memcpy and barriers ---- */
/* Maps the limit's own buffers for this cell, one set at a time: true when all ranks have them. */
bool limit_open(const struct world *world, const struct cell *cell);
void limit_close(void);
char *limit_send(void);
char *limit_recv(void);
/* Two barriers, and each rank copies its row between them, starting behind its own place. */
void limit_rows(void);
/* One barrier, in which the last rank to arrive copies everything. */
void limit_last(void);
/* As many ranks as there are processors copy everything with non-temporal stores, while the others sleep; one barrier. */
void limit_stream(void);

/* ---- cold.c: what stands before each timed call of --cold ---- */
/* Finds out how to empty caches; `sweeping`: not line by line. False: no memory for it, on all ranks. */
bool cold_open(const struct world *world, bool sweeping);
void cold_close(void);
/* How: for instance "clflushopt". Local. */
void cold_describe(char *text, size_t size);
/* This rank's buffers leave all caches, and come back into its own as far as they fit. A meeting has to follow. */
void cold_make(char *send, size_t send_bytes, char *recv, size_t recv_bytes);

/* ---- counters.c: cache misses ---- */
enum { count_of_levels = 3 };
/* False: not one level can be counted by all ranks. */
bool counters_open(const struct world *world);
/* Is level 0 (L1) to 2 (L3) counted? Its name; why it is not counted. Local. */
bool counters_has(int level);
const char *counters_name(int level);
const char *counters_lack(int level);
/* Misses of this thread between the two, for each level that is counted, else 0. Local. */
void counters_start(void);
void counters_stop(double misses[count_of_levels]);

/* ---- timing.c ---- */
struct contestant {
    enum { NATIVE, MORTAR, LIMIT_ROWS, LIMIT_LAST, LIMIT_STREAM } what;
    const char *name;    /* native, native-again, limit, stream, or the plan as it was asked for */
    char ran[192];       /* which plan it was in truth; first rank only */
    bool out;            /* not worth measuring: a limit that the other limit beats by far */
    long calls;          /* of a batch; 1 with --cold */
    double call_seconds; /* roughly */
    double spent;        /* seconds of a batch and all that comes before it, roughly */
    double *seconds;     /* [repetitions] per call, of the slowest rank */
    /* [repetitions] of each level: per call, the mean over ranks; NULL: not counted */
    double *misses[count_of_levels];
};
/* Runs the contestant once on fresh buffers and compares every byte. False: some rank said what was wrong. */
bool timing_verify(const struct world *world, const struct cell *cell, struct contestant *contestant);
/* Times all contestants in turns. Returns the number of repetitions; 0 without memory. timing_free gives back their
 * results. */
int timing_run(const struct world *world, const struct settings *settings, const struct cell *cell, struct contestant *contestants,
               int count);

/* The pieces of it: how many calls make a batch of so many seconds, and one batch, whose seconds per call all ranks get alike. */
void timing_calibrate(const struct world *world, const struct settings *settings, const struct cell *cell,
                      struct contestant *contestant, double seconds);
double timing_batch(const struct world *world, const struct settings *settings, const struct cell *cell,
                    const struct contestant *contestant);
/* Local. */
void timing_free(struct contestant *contestants, int count);

/* ---- chosen.c ---- */
/* Which plan has run most since the last time this was asked, of those that were forced or of those that mortar chose, for instance
 * "pull(rows)" or "native: no bytes"; empty when mortar does not tell. The answer is on the first rank. */
void chosen(const struct world *world, const struct kind *kind, bool forced, char *text, size_t size);
/* In how many memory domains mortar sees the ranks sit, once a collective has run. On the first rank; 1 where it does not tell. */
int chosen_domains(const struct world *world);

/* ---- output.c: on the first rank only, local ---- */
/* Opens the CSV file and prints the table's head. 0 or an exit code. */
int output_open(const struct world *world, const struct settings *settings);
/* Prints the rows of a cell and writes its repetitions. */
void output_cell(const struct world *world, const struct settings *settings, const struct cell *cell,
                 const struct contestant *contestants, int count, int repetitions);
void output_skip(const struct cell *cell, const char *why);
int output_close(void);
/* What is going on, when a person watches. */
void output_progress(const struct world *world, const struct cell *cell, const char *what);

#endif
