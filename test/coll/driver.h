/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.h - the generic test of the block collectives: random trials, each the same on all ranks, run through mortar and through
 * the host MPI's own function on the same inputs. driver.c draws and counts, trial.c runs one, the others hold the tables. */
#ifndef MORTAR_TEST_DRIVER_H
#define MORTAR_TEST_DRIVER_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum collective { ALLTOALL, ALLGATHER, COLLECTIVES };
extern const char *const collective_names[COLLECTIVES];

/* ---- random.c: the same numbers on every rank for the same seed ---- */
struct random {
    uint64_t state;
};
uint64_t draw(struct random *random);
int below(struct random *random, int limit); /* 0 .. limit - 1 */
void fill(char *memory, size_t bytes, uint64_t seed);

/* ---- layouts.c: datatypes. Those of one family have the same basic types, so that they match when the counts do. ---- */
struct layout {
    const char *name;
    int family;
    int elements;   /* basic elements (of the record family: records) in one */
    bool send_only; /* its elements overlap */
    MPI_Datatype type;
};
extern struct layout layouts[];
extern int layout_count;
enum { families = 5 };
extern const int family_bytes[families];
extern MPI_Datatype empty_type; /* no bytes at all */
void layouts_make(void);
void layouts_free(void);

/* ---- places.c: communicators ---- */
struct place {
    const char *name;
    MPI_Comm comm;
    int p, me;
};
enum { most_places = 12 };
extern struct place places[most_places];
extern int place_count;
void places_make(void);
void places_free(void);

/* ---- memory.c: buffers of every kind, with guard bytes around them ---- */
enum kind { KIND_heap, KIND_static, KIND_stack, KIND_mmap, KINDS };
struct buffer {
    enum kind kind;
    char *memory; /* with guards and gaps; what is compared */
    size_t bytes;
    char *base; /* what MPI gets */
};
/* One side of a call: count elements of a type per block. */
struct side {
    const struct layout *layout;
    MPI_Datatype type;
    int count;
};
void arenas(char *stack, size_t bytes); /* two halves: send, receive */
/* Room for `blocks` blocks of the side; `offset` bytes off the alignment. false: no memory. */
bool buffer_make(struct buffer *buffer, enum kind kind, const struct side *side, int blocks, int offset, bool receives);
void buffer_free(struct buffer *buffer);

/* ---- trial.c ---- */
struct trial {
    uint64_t seed;
    int number;
    enum collective collective;
    const char *plan;
    const struct place *place;
    struct side send, recv;
    size_t bytes;         /* of a block, as signature */
    bool in_place, large; /* large: the _c form */
    bool native;          /* mortar leaves it to the host MPI */
    int buffers;          /* 0: heap, 1: everything but heap, 2: mixed among ranks and sides */
    int disturb;          /* 0: no, 1: messages under way, 2: MPI_Ibarrier under way, 3: ranks come late */
};
extern char trial_text[512]; /* the trial that runs now; the watchdog prints it */
void host_find(void);        /* the host's own functions, which mortar does not see */
bool trial_run(const struct trial *trial);

#endif
