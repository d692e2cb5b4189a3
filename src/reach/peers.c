/* SPDX-License-Identifier: BSD-3-Clause */
/* peers - other processes' regions mapped into this one. Mappings are counted, because most
 * communicators of a job have the same ranks. */
#define _GNU_SOURCE
#include "reach/reach.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct peer_mapping {
    struct segment_name name;
    bool writable;
    uintptr_t base;
    size_t users;
    struct peer_mapping *next;
};
static struct peer_mapping *added; /* peers_add: without a file */

static struct peer_mapping *mappings[256]; /* by inode */
static size_t mapped;                      /* bytes of all these */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A limit on address space (ulimit -v) is the program's: at most a quarter of it is for peers. */
static bool has_room(size_t bytes) {
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return true;
    return mapped + bytes <= space.rlim_cur / 4;
}

static struct peer_mapping **peers_find(const struct segment_name *name, bool writable) {
    struct peer_mapping **link = &mappings[name->inode % 256];
    while (*link && !((*link)->name.inode == name->inode && (*link)->name.device == name->device &&
                      (*link)->name.pid == name->pid && (*link)->writable == writable))
        link = &(*link)->next;
    return link;
}

static int map_new(struct peer_mapping **link, const struct segment_name *name, int fd,
                   bool writable) {
    struct peer_mapping *mapping = has_room(name->bytes) ? calloc(1, sizeof *mapping) : NULL;
    if (!mapping) return -ENOMEM;
    int opened = fd >= 0 ? fd : segment_open(name, writable);
    int error = opened < 0 ? opened : 0;
    void *base = error ? NULL : segment_map(opened, name->bytes, writable, &error);
    /* The mapping keeps the file alive; descriptors are scarce. */
    if (fd < 0 && opened >= 0) close(opened);
    if (!base) {
        free(mapping);
        return error;
    }
    *mapping = (struct peer_mapping){.name = *name, .writable = writable, .base = (uintptr_t)base};
    *link = mapping;
    mapped += name->bytes;
    return 0;
}

int peer_map(const struct segment_name *name, int fd, bool writable, uintptr_t *base) {
    pthread_mutex_lock(&lock);
    struct peer_mapping **link = peers_find(name, writable);
    int error = *link ? 0 : map_new(link, name, fd, writable);
    if (error == 0) {
        (*link)->users++;
        *base = (*link)->base;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- what a rank has mapped of its peers ---- */

void peers_add(void *area, size_t bytes) {
    struct peer_mapping *mapping = calloc(1, sizeof *mapping);
    if (!mapping) return;
    *mapping = (struct peer_mapping){.name.bytes = bytes, .base = (uintptr_t)area};
    pthread_mutex_lock(&lock);
    mapping->next = added;
    added = mapping;
    pthread_mutex_unlock(&lock);
}

void peers_remove(const void *area) {
    pthread_mutex_lock(&lock);
    struct peer_mapping **link = &added;
    while (*link && (*link)->base != (uintptr_t)area) link = &(*link)->next;
    struct peer_mapping *mapping = *link;
    if (mapping) *link = mapping->next;
    free(mapping);
    pthread_mutex_unlock(&lock);
}

static void drop(const struct peer_mapping *first) {
    for (const struct peer_mapping *m = first; m; m = m->next)
        madvise((void *)m->base, m->name.bytes, MADV_DONTNEED);
}

/* A figure of /proc/self/status such as "RssShmem:", in bytes; 0: not known. */
static size_t figure(const char *text, const char *name) {
    const char *found = strstr(text, name);
    return found ? strtoul(found + strlen(name), NULL, 10) << 10 : 0;
}

/* Shared memory that this process has mapped and touched, and all memory. */
struct resident {
    size_t shared, all;
};

static struct resident resident_now(void) {
    struct resident now = {0};
    char *text;
    size_t length;
    if (file_read("/proc/self/status", 8192, &text, &length) != 0) return now;
    text[length] = 0;
    now = (struct resident){figure(text, "RssShmem:"), figure(text, "VmRSS:")};
    free(text);
    return now;
}

void peers_count(size_t bytes) {
    static const size_t look_every = 64 << 20, least = 64 << 20;
    static _Atomic size_t since, others; /* others: shared memory that is not the peers' */
    if (atomic_fetch_add(&since, bytes) + bytes < look_every) return;
    atomic_store(&since, 0);
    struct resident now = resident_now();
    if (now.shared < others) others = now.shared;
    size_t peers = now.shared - others;
    if (peers <= least || peers <= (now.all - peers) / 4) return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 256; i++) drop(mappings[i]);
    drop(added);
    pthread_mutex_unlock(&lock);
    /* What stays is what has moved here, and shared memory of the program and its MPI library. */
    others = resident_now().shared;
}

void peer_unmap(const struct segment_name *name, bool writable) {
    pthread_mutex_lock(&lock);
    struct peer_mapping **link = peers_find(name, writable), *mapping = *link;
    if (mapping && --mapping->users == 0) {
        munmap((void *)mapping->base, mapping->name.bytes);
        mapped -= mapping->name.bytes;
        *link = mapping->next;
        free(mapping);
    }
    pthread_mutex_unlock(&lock);
}
