/* SPDX-License-Identifier: BSD-3-Clause */
/* one_sided - memory that MPI's windows expose. An MPI library may register its pages with a
 * network adapter for as long as the window lives, which would go on to use them if the memory
 * moved. A cache of registrations hears of a move; a window's own does not. So this memory stays
 * where it is, whatever the network; what has been shared before the window was made may be in
 * it. */
#include "mpi/calls.h"

#include <pthread.h>
#include <stdlib.h>

/* A block of memory in a window. */
struct exposed {
    struct handle base; /* first */
    struct staying memory;
};
/* A window that exposes something. */
struct window {
    struct handle win; /* first */
    struct handles blocks;
};
static struct handles windows;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t key_of(MPI_Win win) { return (uintptr_t)(intptr_t)win; }

static struct window *window_find(MPI_Win win) {
    return (struct window *)handles_find(&windows, key_of(win));
}

/* NULL: there is nothing to note, or no memory for it; then nothing moves any more. */
static struct exposed *expose(const void *base, MPI_Aint bytes) {
    static struct staying everything = {.bytes = SIZE_MAX};
    static bool all;
    if (bytes <= 0) return NULL;
    struct exposed *note = malloc(sizeof *note);
    if (note) {
        uintptr_t start = (uintptr_t)base;
        *note = (struct exposed){{.key = start}, {.start = start, .bytes = (size_t)bytes}};
        shown_stays(&note->memory);
        return note;
    }
    pthread_mutex_lock(&lock);
    if (!all) shown_stays(&everything);
    all = true;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void block_ends(struct exposed *note) {
    if (note) shown_may_move(&note->memory);
    free(note);
}

static void window_ends(struct window *window) {
    struct handle *block = window ? handles_clear(&window->blocks) : NULL;
    for (struct handle *next; block; block = next) {
        next = block->next;
        block_ends((struct exposed *)block);
    }
    free(window);
}

/* Without memory for a window the block stays for ever. */
static void block_begins(struct exposed *note, MPI_Win win) {
    if (!note) return;
    pthread_mutex_lock(&lock);
    struct window *window = window_find(win);
    if (!window && (window = calloc(1, sizeof *window))) {
        window->win.key = key_of(win);
        handles_add(&windows, &window->win);
    }
    if (window) handles_add(&window->blocks, &note->base);
    pthread_mutex_unlock(&lock);
}

static int exposes(struct exposed *note, int error, const MPI_Win *win) {
    if (error) block_ends(note);
    else block_begins(note, *win);
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

/* What a call ends it takes out before it calls the MPI library, and puts back if that fails: the
 * handle, or the memory, may be another thread's behind the call. It stays where it is until
 * then; for ever, if an error handler does not return. */
int MPI_Win_detach(MPI_Win win, const void *base) {
    pthread_mutex_lock(&lock);
    struct window *window = window_find(win);
    struct handle *block = window ? handles_find(&window->blocks, (uintptr_t)base) : NULL;
    if (block) handles_remove(&window->blocks, block);
    pthread_mutex_unlock(&lock);
    int error = host.win_detach(win, base);
    if (error) block_begins((struct exposed *)block, win);
    else block_ends((struct exposed *)block);
    return error;
}

int MPI_Win_free(MPI_Win *win) {
    if (!win) return host.win_free(win); /* an error */
    pthread_mutex_lock(&lock);
    struct window *window = window_find(*win);
    if (window) handles_remove(&windows, &window->win);
    pthread_mutex_unlock(&lock);
    int error = host.win_free(win);
    if (!error) window_ends(window);
    if (!error || !window) return error;
    pthread_mutex_lock(&lock);
    handles_add(&windows, &window->win);
    pthread_mutex_unlock(&lock);
    return error;
}
