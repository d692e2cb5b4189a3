/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong - collectives and messages that damage one bit of the first byte that the rank $WRONG_RANK
 * receives, or of byte $WRONG_BYTE of its buffer, a barrier that waits for nobody and says so, and,
 * of plans for an alltoall, the list $WRONG_PLANS. Preloaded by smoke.py and others: does the bench
 * see it? With $WRONG_EXAMINED a process says at its end whether mortar has examined its last
 * collective. Arguments travel as machine words, so that no mpi.h is needed; passing more of them
 * than a function takes does no harm. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool chosen_rank(void) {
    const char *chosen = getenv("WRONG_RANK"), *me = getenv("OMPI_COMM_WORLD_RANK");
    if (!me) me = getenv("PMI_RANK");
    return chosen && me && strcmp(chosen, me) == 0;
}

static void damage(char *buffer) {
    const char *at = getenv("WRONG_BYTE");
    if (chosen_rank()) buffer[at ? atoi(at) : 0] ^= 64;
}

static uint64_t examined(void) {
    int (*ask)(uint64_t *);
    uint64_t calls = 0;
    *(void **)&ask = dlsym(RTLD_DEFAULT, "mortar_examined");
    return ask && ask(&calls) == 0 ? calls : 0;
}

static bool last_examined;

__attribute__((destructor)) static void say_examined(void) {
    if (getenv("WRONG_EXAMINED"))
        fprintf(stderr, "wrong: the last call was %sexamined\n", last_examined ? "" : "not ");
}

/* Calls the original with the nine words, of which word `place` is the receive buffer. */
static int call(const char *name, int place, intptr_t *w) {
    int (*original)(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                    intptr_t);
    *(void **)&original = dlsym(RTLD_NEXT, name);
    uint64_t before = examined();
    int error = original(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]);
    last_examined = examined() != before;
    damage((char *)w[place]);
    return error;
}

#define WRONG(name, place)                                                                         \
    int name(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f, intptr_t g,   \
             intptr_t h, intptr_t i);                                                              \
    int name(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f, intptr_t g,   \
             intptr_t h, intptr_t i) {                                                             \
        intptr_t words[] = {a, b, c, d, e, f, g, h, i};                                            \
        return call(#name, place, words);                                                          \
    }
WRONG(MPI_Bcast, 0)
WRONG(MPI_Gather, 3)
WRONG(MPI_Gatherv, 3)
WRONG(MPI_Scatter, 3)
WRONG(MPI_Scatterv, 4)
WRONG(MPI_Allgather, 3)
WRONG(MPI_Allgatherv, 3)
WRONG(MPI_Alltoall, 3)
WRONG(MPI_Alltoallv, 4)
WRONG(MPI_Alltoallw, 4)
WRONG(MPI_Reduce, 1)
WRONG(MPI_Allreduce, 1)
WRONG(MPI_Reduce_scatter, 1)
WRONG(MPI_Reduce_scatter_block, 1)
WRONG(MPI_Scan, 1)
WRONG(MPI_Exscan, 1)
WRONG(MPI_Neighbor_allgather, 3)
WRONG(MPI_Neighbor_allgatherv, 3)
WRONG(MPI_Neighbor_alltoall, 3)
WRONG(MPI_Neighbor_alltoallv, 4)
WRONG(MPI_Neighbor_alltoallw, 4)

/* Messages: the first one that is posted before all are waited for. */
static char *posted;
int MPI_Irecv(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f, intptr_t g);
int MPI_Irecv(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f, intptr_t g) {
    int (*original)(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);
    *(void **)&original = dlsym(RTLD_NEXT, "MPI_Irecv");
    if (!posted) posted = (char *)a;
    return original(a, b, c, d, e, f, g);
}

int MPI_Waitall(intptr_t a, intptr_t b, intptr_t c);
int MPI_Waitall(intptr_t a, intptr_t b, intptr_t c) {
    int (*original)(intptr_t, intptr_t, intptr_t);
    *(void **)&original = dlsym(RTLD_NEXT, "MPI_Waitall");
    int error = original(a, b, c);
    if (posted) damage(posted);
    posted = NULL;
    return error;
}

int MPI_Barrier(intptr_t comm);
int MPI_Barrier(intptr_t comm) {
    static int calls;
    if (calls++ == 0) fprintf(stderr, "wrong: a barrier\n");
    return (void)comm, 0;
}

int mortar_plans(const char *collective, size_t bytes, int outside, char *texts, size_t size);
int mortar_plans(const char *collective, size_t bytes, int outside, char *texts, size_t size) {
    int (*original)(const char *, size_t, int, char *, size_t);
    const char *plans = getenv("WRONG_PLANS");
    if (plans && strcmp(collective, "alltoall") == 0) return snprintf(texts, size, "%s", plans), 2;
    *(void **)&original = dlsym(RTLD_NEXT, "mortar_plans");
    return original ? original(collective, bytes, outside, texts, size) : -ENOSYS;
}
