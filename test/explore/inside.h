/* SPDX-License-Identifier: BSD-3-Clause */
/* inside.h - private to the explorer: graphs, and who does what with them. */
#ifndef EXPLORE_INSIDE_H
#define EXPLORE_INSIDE_H

#include "explore.h"

#include <stdatomic.h>

enum {
    most_events = 160, /* of a thread */
    most_ids = most_threads * most_events,
    most_words = 96,
    most_writes = 64, /* to one word */
    most_names = 64,
    initial = -1, /* the write that every word begins with */
};

enum kind { READ, WRITE, FENCE };

/* A read-modify-write is two events, a read and a write, both `joined`. */
struct event {
    uint8_t kind, order; /* memory_order */
    bool joined, awaits; /* awaits: reads only what differs from `old` */
    int16_t word;        /* index in words; -1: a fence */
    int16_t from;        /* of a read: the write's id */
    uint32_t stamp;      /* in the order in which events were added */
    uint64_t value, old;
};

/* An event's id is thread * most_events + its number in the thread. */
static inline int thread_of(int id) { return id / most_events; }
static inline int number_of(int id) { return id % most_events; }

struct graph {
    int events; /* in all */
    uint32_t stamp;
    int count[most_threads];
    int writes[most_words];
    int16_t written[most_words][most_writes]; /* coherence order, without the initial write */
    bool changed; /* made by a choice after which the model has to be asked */
    int forced;   /* naive search: the thread that goes on; -1: none */
    struct event event[most_threads][most_events];
};
static inline struct event *event_at(struct graph *graph, int id) {
    return &graph->event[thread_of(id)][number_of(id)];
}

/* ---- graph.c ---- */
extern struct graph now; /* the graph of this execution */
extern struct word {
    uintptr_t address;
    unsigned bytes;
    uint64_t initial;
} words[most_words];
extern int word_count;
int word_of(const volatile void *address, unsigned bytes);
void graph_copy(struct graph *to, const struct graph *from);
int graph_add(struct graph *graph, int thread, struct event event);
void graph_place(struct graph *graph, int id, int position);
/* Position of a write in its word's order: 0 for the initial one, then 1 ... */
int graph_position(const struct graph *graph, int word, int id);
/* The write at a position. */
int graph_id_at(const struct graph *graph, int word, int position);
uint64_t graph_value(struct graph *graph, int word, int position);
uint64_t graph_hash(struct graph *graph);
/* The graphs still to be visited. */
struct graph *pending_push(const struct graph *graph);
bool pending_pop(struct graph *graph);
bool seen_before(uint64_t hash);
void seen_forget(void);

/* ---- model.c ---- */
struct clock {
    int16_t seen[most_threads]; /* events of each thread */
};
extern struct clock happened[most_ids]; /* of each event: what happens before it, with itself */
extern struct clock caused[most_ids];   /* the same along program order and reads-from */
extern struct clock thread_happened[most_threads], thread_caused[most_threads];
void model_begin(void);
/* An event of the graph is executed: sets its clocks. */
void model_execute(int id);
/* The least position from which somebody who knows of `before` may read, or which his write may
 * follow. */
int model_least(const struct graph *graph, const struct clock *before, int word);
/* May a write that is not joined come right after this position? */
bool model_splits(struct graph *graph, int word, int position);
/* Is the order of sequentially consistent events of `now`, all executed, without a circle? */
bool model_consistent(void);

/* ---- cut.c ---- */
/* Makes the graph in which `read` could take its value from the next write of this thread. False:
 * it is reached from another graph. */
bool cut(struct graph *rest, int read, int thread);

/* ---- visit.c ---- */
/* What a thread asks for. */
struct request {
    enum { LOAD, STORE, ADD, SUB, OR, AND, XOR, SWAP, SWAP_IF, AWAIT, BARRIER } what;
    uint8_t order;
    int word;
    uint64_t value, expected; /* expected: for SWAP_IF; for AWAIT the value that is waited out */
};
/* Runs one operation of this thread; returns what it read. */
uint64_t perform(struct request request);
/* What a step that changes a word leaves there. */
uint64_t request_result(const struct request *want, uint64_t old);
/* The execution is wrong, unless the model does not allow it. Does not return. */
_Noreturn void fault(const char *what);
extern int executed[most_threads]; /* events of each thread so far */
struct found {
    uint64_t executions, refused; /* complete ones; those that the model does not allow */
    uint64_t outcomes, twice;     /* twice: visited again, which only the naive search should do */
    char fault[160];              /* "": none */
};
extern struct found found;
enum how { OPTIMAL, NAIVE };
/* Visits all executions, or until a fault, or `most` of them (0: all). */
void visit(const struct scene *scene, int threads, enum how how, uint64_t most);

/* ---- threads.c ---- */
extern int current; /* the thread that runs; -1: none */
void threads_begin(int count, void (*run)(int thread));
void threads_restart(void);
/* Runs the thread until it calls threads_leave. */
void thread_go_on(int thread);
void threads_leave(void);

/* ---- race.c ---- */
void race_begin(void);
void race_access(uintptr_t address, size_t bytes, bool write);
/* In shared memory of the scene? */
bool is_shared(uintptr_t address);
void race_atomic(uintptr_t address, size_t bytes);

/* ---- trace.c ---- */
void trace_begin(void);
void trace_add(int id);
void trace_print(void);
const char *name_of(uintptr_t address);

#endif
