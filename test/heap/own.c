/* SPDX-License-Identifier: BSD-3-Clause */
/* own - an executable that brings its own malloc, as one linked with another allocator does. */
#include "heap_test.h"

static char arena[64 << 20] __attribute__((aligned(64)));
static size_t used;

/* Each block is preceded by its length; nothing is ever freed. */
void *malloc(size_t bytes) {
    size_t room = (bytes + 127) & ~(size_t)63;
    char *block = arena + __atomic_fetch_add(&used, room, __ATOMIC_RELAXED) + 64;
    if (block + bytes > arena + sizeof arena) return NULL;
    memcpy(block - 64, &bytes, sizeof bytes);
    return block;
}

void free(void *block) {
    if (block && ((char *)block < arena || (char *)block >= arena + sizeof arena)) abort();
}

void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }

void *realloc(void *block, size_t bytes) {
    size_t had = 0;
    void *fresh = malloc(bytes);
    if (block) memcpy(&had, (char *)block - 64, sizeof had);
    if (block && fresh) memcpy(fresh, block, had < bytes ? had : bytes);
    return fresh;
}

int main(void) {
    struct heap_region region;
    expect(heap_state(&region) == 0 && strstr(heap_why(), "another malloc"), "the heap knows");
    char *text = strdup("text");
    expect(text >= arena && text < arena + sizeof arena, "strdup uses the executable's malloc");
    free(text);
    enum { long_bytes = 1 << 20 };
    char *block = memset(malloc(long_bytes), 7, long_bytes);
    expect(move_it(block, long_bytes) == 0 && has_moved(block, long_bytes, false),
           "its blocks move, which lie in static data");
    expect(block[0] == 7 && block[long_bytes / 2] == 7, "and are as they were");
    printf("%s\n", heap_why());
    return failures > 0;
}
