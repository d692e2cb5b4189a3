/* SPDX-License-Identifier: BSD-3-Clause */
/* one_sided - memory that MPI's windows expose. An MPI library may register its pages with a
 * network adapter for as long as the window lives, which would go on to use them if the memory
 * moved. A cache of registrations hears of a move; a window's own does not. So this memory stays
 * where it is, whatever the network; what has been shared before the window was made may be in
 * it. */
#include "mpi/calls.h"

#include <pthread.h>
#include <stdlib.h>

static struct exposed {
    struct staying memory;
    MPI_Win win;
    bool ends; /* its window is being freed, or it is being detached */
    struct exposed *next;
} *exposed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* NULL: there is nothing to note, or no memory for it; then nothing moves any more. */
static struct exposed *expose(const void *base, MPI_Aint bytes) {
    static struct staying everything = {.bytes = SIZE_MAX};
    static bool all;
    if (bytes <= 0) return NULL;
    struct exposed *note = malloc(sizeof *note);
    if (note) {
        *note = (struct exposed){.memory = {.start = (uintptr_t)base, .bytes = (size_t)bytes}};
        shown_stays(&note->memory);
        return note;
    }
    pthread_mutex_lock(&lock);
    if (!all) shown_stays(&everything);
    all = true;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int exposes(struct exposed *note, int error, const MPI_Win *win) {
    if (!note) return error;
    if (error) {
        shown_may_move(&note->memory);
        free(note);
        return error;
    }
    pthread_mutex_lock(&lock);
    note->win = *win;
    note->next = exposed;
    exposed = note;
    pthread_mutex_unlock(&lock);
    return error;
}

/* Marks what the call that follows will end: all of the window, or (base not NULL) what was
 * attached there. The handle may soon be another window's, in another thread. */
static void will_end(MPI_Win win, const void *base) {
    pthread_mutex_lock(&lock);
    for (struct exposed *note = exposed; note; note = note->next)
        if (note->win == win && (!base || note->memory.start == (uintptr_t)base)) note->ends = true;
    pthread_mutex_unlock(&lock);
}

static int has_ended(MPI_Win win, int error) {
    pthread_mutex_lock(&lock);
    for (struct exposed **at = &exposed, *note; (note = *at);) {
        bool mine = note->win == win && note->ends;
        if (!mine || error) {
            if (mine) note->ends = false;
            at = &note->next;
            continue;
        }
        *at = note->next;
        shown_may_move(&note->memory);
        free(note);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* Not in MPI 3; where the MPI library has no such function the other one does. */
int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                     MPI_Win *win);
int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base,
                       MPI_Win *win);

static int create(bool large, void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info,
                  MPI_Comm comm, MPI_Win *win) {
    struct exposed *note = expose(base, size);
    int error = large && host.win_create_c
                    ? host.win_create_c(base, size, unit, info, comm, win)
                    : host.win_create(base, size, (int)unit, info, comm, win);
    return exposes(note, error, win);
}

int MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                   MPI_Win *win) {
    return create(false, base, size, unit, info, comm, win);
}

int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                     MPI_Win *win) {
    return create(true, base, size, unit, info, comm, win);
}

/* What a library allocates for a window: mostly memory that never moves, but it may be malloc's. */
static int allocate(bool large, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                    void **base, MPI_Win *win) {
    int error = large && host.win_allocate_c
                    ? host.win_allocate_c(size, unit, info, comm, base, win)
                    : host.win_allocate(size, (int)unit, info, comm, base, win);
    return error ? error : exposes(expose(*base, size), error, win);
}

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                     MPI_Win *win) {
    return allocate(false, size, unit, info, comm, base, win);
}

int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base,
                       MPI_Win *win) {
    return allocate(true, size, unit, info, comm, base, win);
}

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size) {
    struct exposed *note = expose(base, size);
    return exposes(note, host.win_attach(win, base, size), &win);
}

int MPI_Win_detach(MPI_Win win, const void *base) {
    if (base) will_end(win, base);
    return has_ended(win, host.win_detach(win, base));
}

int MPI_Win_free(MPI_Win *win) {
    if (!win) return host.win_free(win); /* an error */
    MPI_Win freed = *win;
    will_end(freed, NULL);
    return has_ended(freed, host.win_free(win));
}
