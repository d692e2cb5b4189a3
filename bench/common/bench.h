/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - `mortar bench`: the MPI library's own collective, mortar's plans and the limit of the
 * machine, verified and then timed in turns within one process. main.c reads in the order of the
 * work. Functions are collective, unless they say local. */
#ifndef MORTAR_BENCH_H
#define MORTAR_BENCH_H

#include "columns.h"
#include "base/base.h"

#include <mpi.h>
#include <stdio.h>

/* ---- kinds.c: the collectives (list.h) ---- */
struct cell;
/* The MPI functions of one side, by the names of list.h. */
struct functions {
#define KIND(name, Name, sends, receives, contents, vector) __typeof__(&MPI_##Name) name;
#include "list.h"
#undef KIND
};
/* library: the MPI library's own, past whatever is preloaded; the bench talks among its ranks with
 * them. caught: what any program gets. */
extern struct functions library;
extern const struct functions caught;
/* Fills `library`; the name of a function that is not found, else NULL. Local. */
const char *functions_find(void);
/* The end of a noun. */
static inline const char *plural(int count) { return count == 1 ? "" : "s"; }
/* The file that it was loaded from. Local. */
const char *library_file(void);
/* The library's own function of this name ("PMPI_Comm_free"); NULL: it has none. Local. */
void *library_symbol(const char *name);

struct kind {
    const char *name;     /* "alltoall" */
    const char *function; /* MPI's name of it, "Alltoall" */
    int (*call)(const struct functions *, const struct cell *, MPI_Comm);
    enum blocks_of sends, receives;
    enum contents contents;
    bool vector; /* counts may differ */
};
extern const struct kind kinds[];
extern const int count_of_kinds;
const struct kind *kind_of(const char *name); /* NULL: none of that name */
/* Local. One block for everybody, not one each; has a root; goes to the neighbours of a topology;
 * moves a grid; limit.c does it. */
bool kind_same_to_all(const struct kind *kind);
bool kind_rooted(const struct kind *kind);
bool kind_neighbours(const struct kind *kind);
bool kind_grid(const struct kind *kind);
bool kind_limit(const struct kind *kind);
/* May a rank run ahead of others when it is called again and again? */
bool kind_loose(const struct kind *kind);
/* Does limit_stream do it, too? */
bool kind_stream(const struct kind *kind);

/* ---- settings.c ---- */
enum { most_sizes = 64, most_plans = 32, most_imbalances = 32 };

/* Where buffers lie: memory from malloc, the first thread's stack, a mapping of the program's, one
 * for another thread's stack. */
enum buffers { BUFFERS_HEAP, BUFFERS_STACK, BUFFERS_MAPPED, BUFFERS_OUTSIDE, BUFFERS };
extern const char *const buffers_names[BUFFERS];

struct settings {
    const struct kind *kind;
    size_t bytes[most_sizes]; /* block sizes, or edges of grids */
    int sizes;
    int before, after; /* of a grid: the axes that are distributed */
    const char *plans[most_plans];
    int plan_count;
    const char *csv; /* NULL: none */
    enum buffers buffers;
    bool limit;
    bool counters;
    bool use; /* between calls ranks use their data */
    bool cold, sweep; /* sweep: do not flush single lines even where the processor can */
    bool irregular, then_barrier;
    int root;
    int topology;                       /* of topology_names */
    double imbalances[most_imbalances]; /* seconds */
    int imbalance_count;                /* 0: the usual benchmark */
    double seconds;                     /* of measuring, per block size */
    int repetitions;                    /* 0: what fits into seconds */
};

/* Reads the command line before MPI_Init; the first rank says what is wrong. Local. -1: go on, else
 * the exit code. */
int settings_read(int count, char **words, struct settings *settings);
/* Its pieces, for the command line of `mortar tune`. settings_fail: only the first rank speaks, and
 * only it gets an exit code that is an error: a launcher kills the others at the first one it
 * sees. */
extern const char *settings_command; /* "bench" or "tune" */
int settings_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int settings_no_kind(const char *name); /* the same, for a name that is no collective */
/* Is --help among the words? Then the first rank has printed the usage. */
bool settings_help(int count, char **words, const char *usage);
/* Passes each option to `read`, with its value, or with "" if none follows. -1: go on, else the exit
 * code. */
int settings_options(int count, char **words,
                     int (*read)(const char *option, const char *value, void *settings),
                     void *settings);
bool settings_sizes(const char *text, struct settings *settings);
bool settings_number(const char *text, double least, double most, double *number);

/* ---- nodes.c: who shares a node ---- */
/* The ranks of comm that share my node, in its order. pretend: as MORTAR_NODES divides them, like
 * the library does (src/reach/team.c). */
void nodes_split(MPI_Comm comm, bool pretend, MPI_Comm *node);
/* Does MORTAR_NODES divide them? Can it not be read? Local. */
bool nodes_pretended(void);
bool nodes_unreadable(void);
/* [p] each rank's node, counted from 0 in the order of their lowest ranks, and how many there are;
 * to be freed. NULL on all ranks: no memory. */
int *nodes_of(MPI_Comm comm, MPI_Comm node, int *nodes);

/* ---- world.c: where we are ---- */
/* How mortar sees the ranks sit. */
struct seen {
    int nodes;     /* MORTAR_NODES may pretend some; 0: mortar does not tell */
    int fullest;   /* ranks on the fullest one */
    int domains;   /* of memory */
    char why[120]; /* it leaves all calls to the MPI library; empty: it does not */
};
/* plan, plans and report are those of mortar.h, NULL when mortar is not loaded. */
struct world {
    MPI_Comm all;                    /* the ranks; the bench itself talks among them on it */
    MPI_Comm comm;                   /* of the same ranks; what is measured runs on it */
    const struct topology *topology; /* NULL: nobody has neighbours */
    int p, me, nodes;
    int processors;   /* of this node that its ranks may use */
    bool crowded;     /* more ranks than processors, on some node */
    bool loaded;      /* mortar serves this MPI */
    const char *heap; /* why peers cannot reach what malloc gives; NULL: they can */
    char mpi[96], machine[128];
    int (*plan)(const char *), (*report)(const char *);
    int (*plans)(const char *, size_t, int, char *, size_t);
    struct seen seen; /* where it was asked for */
};

/* Fills *world. 0, or 1 after the first rank said why there is nothing to measure. */
int world_look(struct world *world);
/* The first ranks of a world as one of their own, which is to be freed. They belong to it; the
 * others know its p, and that they are not in it: `all` is MPI_COMM_NULL. Collective over the whole
 * world. */
struct world world_part(const struct world *whole, int ranks);
void world_part_free(struct world *part);
/* How to make this library give the processor away while it waits; NULL: it does. Local. */
const char *world_cure(const struct world *world);
/* The first rank says in one line what makes the figures less than they seem. */
void world_warn(const struct world *world);
/* Bytes of memory that this node can still give. Local. */
uint64_t world_memory(void);

/* ---- shared.c: what ranks of one node share beside MPI ---- */
/* Zeroed memory that all ranks that meet here map, nobody's pages touched yet; NULL on all of them
 * when one cannot. */
void *shared_map(size_t bytes);
void shared_unmap(void *memory, size_t bytes);

/* ---- meet.c: how batches are kept apart, outside of what is measured ---- */
/* From now on the ranks of this world meet, which stays where it is. */
void meet_open(const struct world *world);
/* As before meet_open. */
void meet_close(void);
/* Their communicator. Local. */
MPI_Comm meet_ranks(void);
/* All ranks of MPI_COMM_WORLD meet and sleep until all are here: those that are not measured do not
 * disturb the others. Takes milliseconds. */
void meet_asleep(void);
/* A barrier that costs about a context switch per rank, also where the MPI library's own costs time
 * slices. */
void meet(void);
/* The maximum over ranks; a meeting as well. */
double meet_max(double value);

/* All ranks get the first one's value, when all are here. */
int meet_first(int value);

/* ---- topology.c: neighbours ---- */
enum { most_neighbours = 8 };
struct topology {
    MPI_Comm comm;
    /* Of those to whom I send, and of those from whom I receive. */
    int count;
    int to[most_neighbours], from[most_neighbours]; /* in the order of the buffers */
};
extern const char *const topology_names[3];
/* Which of the names it is; -1: none. Local. */
int topology_find(const char *name);
/* Gives the world the communicator that this kind needs; topology_close takes it away. */
void topology_open(struct world *world, const struct kind *kind, int which);
void topology_close(struct world *world);

/* ---- blocks.c ---- */
/* The blocks of one side of a call, in the order of the buffer, without gaps. */
struct blocks {
    int count;
    int *peers;           /* [count] to whom or from whom; the root where that says nothing */
    int *counts, *places; /* [count] length and begin, in elements of the cell's type */
    MPI_Aint *offsets;    /* [count] begin, in bytes */
    MPI_Datatype *types;  /* [count] the cell's type */
    size_t bytes;         /* of the buffer */
};
/* Sets the cell's type, unit, out and in. False: no memory, or a displacement that is no int.
 * Local. */
bool blocks_open(struct cell *cell);
void blocks_close(struct cell *cell);
/* 64 bits that depend on a and b only, in every run alike. Local. */
uint64_t draw(uint64_t a, uint64_t b);

/* ---- grid.c: a cubic grid of double complex, of which each rank has a slab, is cut along another
 * axis ---- */
/* Bytes of an element; the longest edge, for counts are ints. */
enum { grid_axes = 3, grid_element = 16, grid_longest = 1024 };
/* How a rank's slab is cut into one part for each rank, those that are empty included. */
struct cut {
    int *types_each, *zeros; /* [p] counts of the types, 1 or 0, and their displacements */
    MPI_Datatype *types;     /* [p] the part as a subarray of the slab */
    /* [p] elements of the part, and where they begin when the parts lie one behind the other. */
    int *counts, *places;
    char *packed; /* so; NULL: they do in the slab itself */
};
struct grid {
    int edge;          /* elements along each axis */
    int before, after; /* axes: distributed in one before, in the other one after */
    struct cut out, in;
};
/* Bytes of this rank's slab, before or after. Local. */
size_t grid_bytes(const struct cell *cell, bool after);
/* What lies in the bytes from `begin` on of this rank's slab, a function of an element's place in
 * the whole grid. Local. */
void grid_words(const struct cell *cell, bool after, size_t begin, size_t bytes, char *piece);
/* Makes the counts and room to pack; false: no memory. grid_types makes the datatypes. Local. */
bool grid_open(struct cell *cell);
void grid_types(struct cell *cell);
void grid_close(struct cell *cell);
/* The parts of a slab from and to where they lie packed. Local. */
void grid_pack(const struct cell *cell);
void grid_unpack(const struct cell *cell);
/* The redistribution as a program without subarrays does it: packs, MPI_Alltoallv, unpacks; but not
 * what lies in order already. */
void grid_packed(const struct cell *cell, const struct functions *side, MPI_Comm comm);

/* ---- cell.c: the buffers of one block size, and what must be in them ---- */
struct cell {
    const struct kind *kind;
    size_t bytes; /* of one block; on average where they differ */
    int p, me, root;
    enum buffers buffers;
    char *arena; /* for BUFFERS_STACK: where there is room for them, as it was before cell_open */
    size_t arena_bytes;
    bool irregular;    /* counts that differ, where MPI has any */
    bool then_barrier; /* after each call */
    /* Seconds that ranks sleep before a call, at most; below 0: all begin together. */
    double imbalance;
    const struct topology *topology;
    MPI_Datatype type; /* of `unit` bytes */
    size_t unit;
    struct blocks out, in;
    struct grid grid; /* where the kind moves one */
    char *send, *recv;
};
/* Gets buffers for the kind, bytes, root, buffers and irregular that are there, `times` as many as
 * one set where there will be others beside it; false on all ranks, with the reason on the first
 * one. */
bool cell_open(const struct world *world, struct cell *cell, double times, char *why, size_t size);
void cell_close(struct cell *cell);
/* Has somebody written around the buffers? Local. */
bool cell_overrun(const struct cell *cell);
/* contents.c. Writes the blocks that this rank sends, or what no rank sends into where it receives.
 * Local. */
void cell_fill(const struct cell *cell, char *send);
void cell_poison(const struct cell *cell, char *recv);
/* Is a byte of recv wrong? Then in which block and where. Local. */
bool cell_wrong(const struct cell *cell, const char *recv, int *block, size_t *place);

/* ---- limit.c: the same exchange with nothing but memcpy and barriers ---- */
/* Maps the limit's own buffers for this cell, one set at a time: true when all ranks have them. */
bool limit_open(const struct world *world, const struct cell *cell);
void limit_close(void);
char *limit_send(void);
char *limit_recv(void);
/* Two barriers, and each rank copies its row between them, starting behind its own place; of long
 * sums each adds up a slice of all vectors for all. */
void limit_rows(void);
/* One barrier, in which the last rank to arrive copies everything. */
void limit_last(void);
/* As many ranks as there are processors copy everything with non-temporal stores, while the others
 * sleep; one barrier. They do not wait for those who still write what is copied (--use). */
void limit_stream(void);

/* ---- cold.c: what stands before each timed call of --cold ---- */
/* Finds out how to empty caches; `sweeping`: not line by line. False: no memory for it, on all
 * ranks. */
bool cold_open(const struct world *world, bool sweeping);
void cold_close(void);
/* How: for instance "clflushopt". Local. */
void cold_describe(char *text, size_t size);
/* This rank's buffers leave all caches, and come back into its own as far as they fit. A meeting
 * has to follow. */
void cold_make(char *send, size_t send_bytes, char *recv, size_t recv_bytes);

/* ---- counters.c: cache misses and stalls ---- */
enum { count_of_events = 5 };
/* False: not one event can be counted by all ranks. */
bool counters_open(const struct world *world);
/* Is an event counted, 0 to 2 being misses of L1 to L3? Its name; why it is not counted. Local. */
bool counters_has(int event);
const char *counters_name(int event);
const char *counters_lack(int event);
/* Of this thread between the two, for each event that is counted, else 0. Local. */
void counters_start(void);
void counters_stop(double counts[count_of_events]);

/* ---- chosen.c ---- */
/* Which plan has run most since the last time this was asked, of those that were forced or of those
 * that mortar chose, for instance "pull(rows)" or "native: no bytes"; empty when mortar does not
 * tell, or none has run. The answer is on the first rank. Returns whether mortar tells, there. */
bool chosen(const struct world *world, const struct kind *kind, bool forced, char *text,
            size_t size);
/* All ranks get the answer, once mortar has looked at a communicator of all of them. */
struct seen chosen_seats(const struct world *world);

/* ---- statistics.c: local ---- */
/* The median of a[i] / b[i], or of a[i] when b is NULL; *spread, which may be NULL, is half the
 * interquartile range over the median. */
double median(const double *a, const double *b, int count, double *spread);

/* ---- csv.c: local ---- */
/* Opens a file to add rows to it, and writes the header, a whole line, into a new one. NULL: it
 * said why not. */
FILE *csv_open(const char *path, const char *header);
/* A value, in quotes where it needs them. */
void csv_text(FILE *csv, const char *text);
/* 0, or 1 when it said that the file is not complete. csv may be NULL. */
int csv_close(FILE *csv);
/* "64K". Returns text. */
const char *size_text(size_t bytes, char *text, size_t size);

/* ---- output.c: on the first rank only, local ---- */
struct contestant; /* calls/contest.h */
/* Opens the CSV file and prints the table's head. 0 or an exit code. */
int output_open(const struct world *world, const struct settings *settings);
/* Prints the rows of a cell and writes its repetitions. */
void output_cell(const struct world *world, const struct settings *settings,
                 const struct cell *cell, const struct contestant *contestants, int count,
                 int repetitions);
void output_skip(const struct cell *cell, const char *why);
int output_close(void);
/* What is going on, when a person watches. */
void output_progress(const struct world *world, const struct cell *cell, const char *what);

#endif
