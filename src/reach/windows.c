/* SPDX-License-Identifier: BSD-3-Clause */
/* windows - attachments of peers' memory through XPMEM, kept for later calls, because a new one
 * costs system calls and page faults (ramesh2024 section V-C). A window is large and aligned, so
 * that neighbouring buffers share it. It shows the owner's address space and not its pages, so it
 * stays valid if the owner frees memory and maps other memory at the same address. Only addresses
 * where nothing is mapped must not be touched (`sound` of path_xpmem). */
#define _GNU_SOURCE
#include "reach/windows.h"

#include "base/base.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum {
    most_windows = 16, /* of one process; above, the least recently used is closed */
    page = 4096,
};
static const uint64_t window_bytes = (uint64_t)64 << 20;

/* libxpmem's interface, as far as it is used here. */
enum { permit_mode = 1, read_and_write = 2, owner_only = 0600 };
struct place {
    int64_t access;
    off_t offset;
};
static struct library {
    int64_t (*make)(void *start, size_t bytes, int permit_type, void *permit);
    int (*remove)(int64_t segment);
    int64_t (*get)(int64_t segment, int flags, int permit_type, void *permit);
    int (*release)(int64_t access);
    void *(*attach)(struct place place, size_t bytes, void *where);
    int (*detach)(void *where);
} xpmem;

struct window {
    uint64_t start, bytes; /* in the other process */
    char *here;
    size_t users;
    uint64_t used; /* the value of `holds` at its last use */
    struct window *next;
};
struct source {
    int64_t segment, access;
    size_t users;
    struct window *windows;
    struct source *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct source *sources;
static int64_t own_segment; /* 0: not made, or XPMEM does not work */
static bool looked;         /* windows_show has tried to make it */
static uint64_t holds;      /* number of calls of window_hold so far */

static bool open_library(void) {
    static const char *const names[] = {"xpmem_make",    "xpmem_remove", "xpmem_get",
                                        "xpmem_release", "xpmem_attach", "xpmem_detach"};
    const char *path = option_text(OPTION_XPMEM);
    if (strcmp(path, "off") == 0) return false;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL), *found[sizeof names / sizeof *names];
    _Static_assert(sizeof found == sizeof xpmem, "a pointer for each name");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        found[i] = handle ? dlsym(handle, names[i]) : NULL;
        if (!found[i]) return false;
    }
    memcpy(&xpmem, found, sizeof found);
    return true;
}

int windows_show(int64_t *segment) {
    pthread_mutex_lock(&lock);
    if (!looked && open_library()) {
        own_segment = xpmem.make(NULL, SIZE_MAX, permit_mode, (void *)(uintptr_t)owner_only);
        if (own_segment < 0) own_segment = 0; /* libxpmem without its module */
    }
    looked = true;
    *segment = own_segment;
    pthread_mutex_unlock(&lock);
    return own_segment ? 0 : -ENOSYS;
}

void windows_hide(void) {
    pthread_mutex_lock(&lock);
    if (own_segment) xpmem.remove(own_segment);
    own_segment = 0;
    looked = false;
    pthread_mutex_unlock(&lock);
}

int source_enter(int64_t segment, struct source **source) {
    pthread_mutex_lock(&lock);
    struct source *s = sources;
    while (s && s->segment != segment) s = s->next;
    int error = 0;
    if (!s) {
        int64_t access =
            xpmem.get(segment, read_and_write, permit_mode, (void *)(uintptr_t)owner_only);
        error = access < 0 ? -EPERM : 0;
        s = error ? NULL : calloc(1, sizeof *s);
        if (s) {
            *s = (struct source){.segment = segment, .access = access, .next = sources};
            sources = s;
        } else if (!error) {
            xpmem.release(access);
            error = -ENOMEM;
        }
    }
    if (s) s->users++;
    *source = s;
    pthread_mutex_unlock(&lock);
    return error;
}

static void close_window(struct window **link) {
    struct window *window = *link;
    *link = window->next;
    xpmem.detach(window->here);
    free(window);
}

void source_leave(struct source *source) {
    pthread_mutex_lock(&lock);
    if (--source->users == 0) {
        while (source->windows) close_window(&source->windows);
        xpmem.release(source->access);
        struct source **link = &sources;
        while (*link != source) link = &(*link)->next;
        *link = source->next;
        free(source);
    }
    pthread_mutex_unlock(&lock);
}

/* Makes room for one more window. Windows in use stay, even if there are too many. */
static void make_room(struct source *source) {
    struct window **oldest = NULL;
    int count = 0;
    for (struct window **link = &source->windows; *link; link = &(*link)->next) {
        count++;
        if ((*link)->users == 0 && (!oldest || (*link)->used < (*oldest)->used)) oldest = link;
    }
    if (count >= most_windows && oldest) close_window(oldest);
}

static struct window *open_window(struct source *source, uint64_t start, uint64_t end,
                                  uint64_t alignment) {
    start = start / alignment * alignment;
    end = (end + alignment - 1) / alignment * alignment;
    struct window *window = malloc(sizeof *window);
    if (!window) return NULL;
    void *here = xpmem.attach((struct place){source->access, (off_t)start}, end - start, NULL);
    if (here == (void *)-1 || !here) {
        free(window);
        return NULL;
    }
    *window = (struct window){
        .start = start, .bytes = end - start, .here = here, .next = source->windows};
    source->windows = window;
    return window;
}

char *window_hold(struct source *source, uint64_t address, size_t bytes, struct window **held) {
    pthread_mutex_lock(&lock);
    struct window *window = source->windows;
    while (window && (address < window->start || address + bytes > window->start + window->bytes))
        window = window->next;
    if (!window) {
        make_room(source);
        window = open_window(source, address, address + bytes, window_bytes);
        /* A whole window may not fit at an end of the address space. */
        if (!window) window = open_window(source, address, address + bytes, page);
    }
    if (window) {
        window->users++;
        window->used = ++holds;
    }
    *held = window;
    pthread_mutex_unlock(&lock);
    return window ? window->here + (address - window->start) : NULL;
}

void window_drop(struct window *window) {
    pthread_mutex_lock(&lock);
    window->users--;
    pthread_mutex_unlock(&lock);
}
