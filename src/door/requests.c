/* SPDX-License-Identifier: BSD-3-Clause */
/* requests - which requests belong to calls that are counted: a hash table of handles. A program
 * without such requests pays one load for each of its waits. */
#include "base/base.h"
#include "door/count.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { places = 8192, most_kept = places / 2 };

size_t request_bytes = sizeof(void *);

static struct kept {
    uint64_t handle;
    int row; /* -1: the place was left; 0: it is free; else the row and one */
} table[places];
static atomic_int kept; /* places that are taken or were left */
static int alive;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t handle_at(const void *request) {
    uint64_t handle = 0;
    memcpy(&handle, request, request_bytes);
    return handle;
}

/* The place of this handle; if it has none, one that it may take. */
static struct kept *find(uint64_t handle) {
    struct kept *vacant = NULL;
    for (size_t at = (size_t)(hashed(handle) >> 51);; at++) { /* 13 bits */
        struct kept *place = &table[at % places];
        if (place->row > 0 && place->handle == handle) return place;
        if (place->row <= 0 && !vacant) vacant = place;
        if (place->row == 0) return vacant;
    }
}

/* Where all have left, nobody's search goes through their places. */
static void forget(struct kept *place) {
    place->row = -1;
    if (--alive > 0) return;
    memset(table, 0, sizeof table);
    atomic_store_explicit(&kept, 0, memory_order_relaxed);
}

void request_made(const void *request, int row) {
    uint64_t handle = handle_at(request);
    pthread_mutex_lock(&lock);
    struct kept *place = find(handle);
    if (place->row > 0) place->row = row + 1; /* it was freed unseen */
    else if (place->row < 0 || kept < most_kept) {
        if (place->row == 0) atomic_fetch_add_explicit(&kept, 1, memory_order_relaxed);
        *place = (struct kept){handle, row + 1};
        alive++;
    }
    pthread_mutex_unlock(&lock);
}

/* Room for one more of at most `count`. */
static bool has_room(struct seen *seen, int count) {
    if (seen->count < seen->room) return true;
    struct seen_one *all = seen->room == few_seen ? malloc((size_t)count * sizeof *all) : NULL;
    if (!all) return false;
    memcpy(all, seen->few, sizeof seen->few);
    seen->all = all;
    seen->room = count;
    return true;
}

void requests_see(const void *requests, int count, struct seen *seen) {
    seen->count = 0;
    seen->room = few_seen;
    seen->all = seen->few;
    if (atomic_load_explicit(&kept, memory_order_relaxed) == 0) return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        const char *at = (const char *)requests + (size_t)i * request_bytes;
        struct kept *place = find(handle_at(at));
        if (place->row <= 0) continue;
        if (has_room(seen, count))
            seen->all[seen->count++] = (struct seen_one){place->row - 1, at, place->handle};
        else forget(place);
    }
    pthread_mutex_unlock(&lock);
}

void requests_check(struct seen *seen) {
    for (int i = 0; i < seen->count; i++) {
        const struct seen_one *one = &seen->all[i];
        if (handle_at(one->place) == one->handle) continue;
        pthread_mutex_lock(&lock);
        struct kept *place = find(one->handle);
        if (place->row > 0) forget(place);
        pthread_mutex_unlock(&lock);
    }
    if (seen->all != seen->few) free(seen->all);
}
