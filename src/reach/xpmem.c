/* SPDX-License-Identifier: BSD-3-Clause */
/* path_xpmem - attaches a peer's memory, which can then be loaded and stored, where the XPMEM
 * kernel module is installed: ramesh2024 section V-C. Nothing is linked: libxpmem is opened when a
 * plan first needs the path. Touching an address where the owner has nothing mapped would kill the
 * process, so an owner checks its buffers before it posts them (`sound`). They stay mapped
 * afterwards, because the owner is inside the call. No call runs when a team is freed, so peers'
 * windows are detached then. This process's memory can be attached until the MPI library's own
 * MPI_Finalize has returned; all peers have entered it by then.
 * Cost    as the heap's, after the first use of a window; set-up: two barriers and p - 1
 *         attachments. */
#define _GNU_SOURCE
#include "reach/reach.h"
#include "reach/windows.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

extern const struct path_code path_xpmem;

/* One peer, and its [receives] buffers in the current call. */
struct neighbour {
    struct source *source;
    struct window *windows[2]; /* NULL: not held */
    char *at[2];
};
struct xpmem {
    int p;
    uint64_t cookie; /* peers check it; in malloc's memory, which is most likely attachable */
    struct neighbour peers[];
};

HOT static char *xpmem_hold(void *state, int rank, bool receives, uint64_t address, size_t bytes) {
    struct neighbour *peer = &((struct xpmem *)state)->peers[rank];
    if (!peer->windows[receives])
        peer->at[receives] = window_hold(peer->source, address, bytes, &peer->windows[receives]);
    return peer->at[receives];
}

HOT static void xpmem_drop(void *state) {
    struct xpmem *xpmem = state;
    for (int r = 0; r < xpmem->p; r++)
        for (int receives = 0; receives < 2; receives++) {
            struct neighbour *peer = &xpmem->peers[r];
            if (peer->windows[receives]) window_drop(peer->windows[receives]);
            peer->windows[receives] = NULL;
        }
}

/* Asks the kernel about every page, and touches both ends, so that a fault there happens in the
 * owner. */
HOT static bool sound(const void *memory, size_t bytes) {
    enum { page = 4096, pages = 2048 };
    unsigned char resident[pages];
    uintptr_t start = (uintptr_t)memory / page * page, end = (uintptr_t)memory + bytes;
    for (; start < end; start += (uintptr_t)pages * page) {
        size_t length = end - start < (size_t)pages * page ? end - start : (size_t)pages * page;
        if (mincore((void *)start, length, resident) != 0) return false;
    }
    (void)*(const volatile char *)memory;
    (void)*((const volatile char *)memory + bytes - 1);
    return true;
}

/* Opens a peer, and checks that its cookie is at the address that it has posted. */
static int xpmem_meet(struct xpmem *xpmem, int rank, const struct post *post) {
    int error = source_enter(post->owner, &xpmem->peers[rank].source);
    if (error) return error;
    const char *at = xpmem_hold(xpmem, rank, false, post->send, sizeof xpmem->cookie);
    if (!at) return -EPERM;
    return *(const volatile uint64_t *)at == post->recv ? 0 : -ESRCH;
}

static void close_xpmem(void *state) {
    struct xpmem *xpmem = state;
    for (int r = 0; r < xpmem->p; r++)
        if (xpmem->peers[r].source) source_leave(xpmem->peers[r].source);
    free(xpmem);
}

static int open_xpmem(struct team *team, void **state) {
    size_t p = (size_t)team->p;
    struct xpmem *xpmem = calloc(1, sizeof *xpmem + p * sizeof xpmem->peers[0]);
    uint32_t half = team->epoch & 1;
    struct post *mine = post_of(team, half, team->me);
    *mine = (struct post){0};
    int error = xpmem ? windows_show(&mine->owner) : -ENOMEM;
    if (xpmem) {
        xpmem->p = team->p;
        if (getentropy(&xpmem->cookie, sizeof xpmem->cookie) != 0) error = -EIO;
        mine->send = (uintptr_t)&xpmem->cookie, mine->recv = xpmem->cookie;
    }
    *state = xpmem;
    if (!team_agree(team, error == 0)) return error ? error : -ENOSYS;
    for (int r = 0; r < team->p && error == 0; r++)
        if (r != team->me) error = xpmem_meet(xpmem, r, post_of(team, half, r));
    xpmem_drop(xpmem);
    if (team_agree(team, error == 0)) return 0;
    return error ? error : -EPERM;
}

const struct path_code path_xpmem = {.open = open_xpmem,
                                     .close = close_xpmem,
                                     .finish = windows_hide,
                                     .hold = xpmem_hold,
                                     .drop = xpmem_drop,
                                     .sound = sound};
