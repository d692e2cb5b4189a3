/* SPDX-License-Identifier: BSD-3-Clause */
/* wraps - an executable that defines malloc, calloc, realloc and free around those of the C library
 * to count bytes, and leaves the rest of the family as it is. -DNEXT: around the next definition,
 * which is the heap's. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <malloc.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);

#ifdef NEXT
static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static void *(*next_realloc)(void *, size_t);

static void find(void *function, const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

void *malloc(size_t bytes) {
    if (!next_malloc) find(&next_malloc, "malloc");
    return next_malloc(bytes);
}

void free(void *block) {
    if (!next_free) find(&next_free, "free");
    next_free(block);
}

void *realloc(void *block, size_t bytes) {
    if (!next_realloc) find(&next_realloc, "realloc");
    return next_realloc(block, bytes);
}

void *calloc(size_t count, size_t bytes) {
    void *block = malloc(count * bytes);
    return block ? memset(block, 0, count * bytes) : NULL;
}
#else
static _Atomic long held;

void *malloc(size_t bytes) {
    void *block = __libc_malloc(bytes);
    held += (long)malloc_usable_size(block);
    return block;
}

void free(void *block) {
    held -= (long)malloc_usable_size(block);
    __libc_free(block);
}

void *realloc(void *block, size_t bytes) {
    held -= (long)malloc_usable_size(block);
    void *fresh = __libc_realloc(block, bytes);
    held += (long)malloc_usable_size(fresh);
    return fresh;
}

void *calloc(size_t count, size_t bytes) {
    void *block = __libc_calloc(count, bytes);
    held += (long)malloc_usable_size(block);
    return block;
}
#endif

static void is_whole(void *block, size_t bytes) {
    expect(block != NULL && malloc_usable_size(block) >= bytes, "a block and its size");
    if (!block) return;
    memset(block, 1, bytes);
    block = realloc(block, 2 * bytes);
    expect(block != NULL && ((char *)block)[bytes - 1] == 1, "it grows");
    free(block);
}

int main(void) {
    void *block = NULL;
    for (size_t bytes = 100; bytes < 10 << 20; bytes *= 3) {
        is_whole(malloc(bytes), bytes);
        is_whole(memalign(64, bytes), bytes);
        is_whole(aligned_alloc(64, bytes), bytes);
        is_whole(valloc(bytes), bytes);
        is_whole(pvalloc(bytes), bytes);
        expect(posix_memalign(&block, 64, bytes) == 0, "posix_memalign");
        is_whole(block, bytes);
    }
    block = malloc(1 << 20);
    struct mallinfo2 info = mallinfo2();
    expect(info.uordblks + info.hblkhd >= 1 << 20, "mallinfo2 knows the program's blocks");
    free(block);
    malloc_trim(0);
    const char *why = heap_why();
    printf("%s\n", why ? why : "shared");
    return failures > 0;
}
