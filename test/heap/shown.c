/* SPDX-License-Identifier: BSD-3-Clause */
/* shown - src/reach/shown.c over the heap: what a rank shows a peer is what it holds, what a peer
 * writes comes back, and no byte beside a buffer changes; for buffers of all lengths at all places,
 * in memory that is private, has moved, or has in part; freed and given out again in between. When
 * it moves: after as many uses as moving costs. */
#define _GNU_SOURCE
#include "heap_test.h"

#include "reach/reach.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

enum { MiB = 1 << 20, page = 4096 };
static struct team team;
static char *peer; /* the file as a peer maps it */
static char statics[3 * MiB];

static uint64_t drawn = 1;
static size_t draw(size_t below) {
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(drawn >> 33) % below;
}

static enum shown show(const void *memory, size_t bytes, enum showing how, uint64_t *offset) {
    return team_shows(&team, memory, bytes, how, offset);
}

/* Buffers of random places in one block, whose bytes `model` tells. */
static void at_random(char *block, size_t bytes, bool at_once, const char *what) {
    enum { rounds = 4000 };
    char *model = malloc(bytes);
    int shown = 0, later = 0, wrong = 0;
    for (size_t i = 0; i < bytes; i++) model[i] = block[i] = (char)draw(256);
    for (int k = 0; k < rounds; k++) {
        size_t most = draw(3) == 0 ? 200 : draw(2) == 0 ? 3 * page : bytes, at = draw(bytes);
        size_t length = 1 + draw(bytes - at < most ? bytes - at : most);
        if (draw(3) == 0) at = at / page * page;
        if (at + length > bytes) continue;
        bool writes = draw(2);
        uint64_t offset;
        enum shown answer =
            show(block + at, length, writes ? SHOW_TO_WRITERS : SHOW_TO_READERS, &offset);
        expect(answer != SHOWN_NEVER || length < 2 * page, what);
        if (answer != SHOWN) {
            later++;
            continue;
        }
        shown++;
        wrong += memcmp(peer + offset, model + at, length) != 0;
        if (writes) {
            for (size_t i = 0; i < length; i += 1 + draw(50))
                model[at + i] = peer[offset + i] = (char)draw(256);
            team_takes_back(&team, block + at, length);
        } else if (draw(2)) { /* a buffer that is not shown changes as it likes */
            model[at] = block[at] = (char)draw(256);
        }
        wrong += memcmp(block, model, bytes) != 0;
    }
    printf("%s: %d shown, %d later\n", what, shown, later);
    expect(wrong == 0, what);
    /* A short buffer in static data is not, before a long one has given them a place. */
    expect(shown > rounds / 4 && (!at_once || later <= 3), "most buffers are shown");
    free(model);
}

static void when_it_pays(void) {
    struct heap_region region;
    heap_state(&region);
    uint64_t offset;
    for (size_t bytes = long_block; bytes <= 16 * MiB; bytes *= 8) {
        malloc_trim(0);
        char *block = aligned_alloc(page, bytes);
        unsigned uses = 1;
        memset(block, 1, bytes);
        uint64_t before = shown_moves.bytes;
        while (uses < 1000 && show(block, bytes, SHOW_TO_READERS, &offset) == SHOWN_LATER) uses++;
        printf("%zu KiB move at use %u\n", bytes >> 10, uses);
        /* A use costs an eighth of a nanosecond per byte, and moving 75 us and 0.5 ns; it has to be
         * worth three times that, and twelve times where huge pages are lost. */
        double rent = (double)bytes / 8e9, price = 3 * (75e-6 + 0.5e-9 * (double)bytes);
        if (region.loses_huge) price *= 4;
        expect(uses >= 2 && (uses - 1) * rent <= price, "it moves once the uses cost as much");
        expect(uses >= 64 || (uses + 1) * rent >= price, "and not before");
        expect(shown_moves.bytes - before == bytes, "which is counted");
        expect(has_moved(block, bytes, false), "it has moved");
        free(block);
    }
    /* With gaps: told that it would pay, and moved when told to; edges are not for writers. */
    malloc_trim(0);
    char *gaps = aligned_alloc(page, MiB);
    enum shown answer = SHOWN_NEVER;
    for (int k = 0; k < 200 && answer == SHOWN_NEVER; k++)
        answer = show(gaps + 100, MiB - 200, SHOW_GAPS, &offset);
    expect(answer == SHOWN_LATER && !has_moved(gaps, MiB, true), "memory with gaps does not move");
    expect(show(gaps + 100, MiB - 200, SHOW_NOW, &offset) == SHOWN, "until it is told to");
    expect(show(gaps + 100, MiB - 200, SHOW_GAPS, &offset) == SHOWN, "then peers may read it");
    expect(show(gaps + 100, MiB - 200, SHOW_GAPS | SHOW_TO_WRITERS, &offset) == SHOWN_NEVER,
           "but not write where its ends would have to be copied back");
    expect(show(gaps + page, MiB - 2 * page, SHOW_GAPS | SHOW_TO_WRITERS, &offset) == SHOWN,
           "unless it begins and ends with pages that have moved");
    free(gaps);
    char *mapped = mmap(NULL, MiB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    expect(show(mapped, MiB, SHOW_TO_READERS, &offset) == SHOWN_NEVER, "not what is shared");
    expect(show(mapped, 10, SHOW_TO_READERS, &offset) == SHOWN_NEVER, "not even a little");
    munmap(mapped, MiB);
    char *own =
        mmap(mapped, MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    unsigned uses = 0;
    while (show(own, MiB, SHOW_TO_READERS, &offset) != SHOWN && uses < 3000) uses++;
    expect(uses < 3000, "the program's own is, some day, where something else was");
    expect(show(own, 10, SHOW_TO_READERS, &offset) == SHOWN, "even a little");
    munmap(own, MiB);
    expect(show(own, MiB, SHOW_TO_READERS, &offset) != SHOWN, "not when it is gone");
}

/* Other threads may be writing to the pages at the ends. */
static void only_its_own(void) {
    uint64_t offset;
    malloc_trim(0);
    char *block = aligned_alloc(page, 100 * page);
    expect(!has_moved(block, 100 * page, true), "a new block is private");
    expect(show(block + 10 * page + 1, 50 * page, SHOW_NOW, &offset) == SHOWN, "a part is shown");
    expect(has_moved(block + 11 * page, 49 * page, false), "the pages that it fills have moved");
    expect(!has_moved(block, 11 * page, true) && !has_moved(block + 60 * page, 40 * page, true),
           "those at its ends have not, nor any other");
    free(block);
}

/* Buffers within a page are copied into the file, where nothing has moved. */
static void ends_go_back(void) {
    enum { many = 4000, bytes = 4000 };
    static char *blocks[many];
    uint64_t offset;
    size_t before = file_bytes();
    for (int i = 0; i < many; i++) {
        blocks[i] = memset(malloc(long_block), 1, bytes);
        expect(show(blocks[i], bytes, SHOW_TO_READERS, &offset) == SHOWN, "its ends are shown");
    }
    size_t full = file_bytes();
    for (int i = 0; i < many; i++) free(blocks[i]);
    malloc_trim(0);
    size_t left = file_bytes();
    printf("%d blocks: the file has %zu, %zu, then %zu KiB\n", many, before >> 10, full >> 10,
           left >> 10);
    expect(full > before + many * bytes && left < before + MiB, "and what is freed goes back");
}

/* Short blocks are the C library's, whose pages hold other blocks. */
static void short_ones_stay(void) {
    uint64_t offset;
    for (size_t bytes = 1; bytes < long_block; bytes *= 3) {
        char *block = malloc(bytes);
        for (int k = 0; k < 100; k++)
            expect(show(block, bytes, SHOW_TO_READERS, &offset) == SHOWN_NEVER || is_ours(bytes),
                   "a short block of the C library");
        free(block);
    }
}

static void born(void) {
    uint64_t offset;
    for (size_t bytes = 1; bytes < 4 * MiB; bytes = bytes * 5 + 3) {
        char *memory = shown_alloc(&team, bytes);
        expect(memory != NULL, "memory that is shared from the beginning");
        memset(memory, 9, bytes);
        expect(show(memory, bytes, SHOW_TO_WRITERS | SHOW_GAPS, &offset) == SHOWN &&
                   peer[offset] == 9 && peer[offset + bytes - 1] == 9,
               "peers see it");
        char *private = malloc(bytes);
        shown_free(memory);
        free(private);
        for (int k = 0; k < 50; k++) { /* what was freed is not given to the program */
            char *next = malloc(bytes);
            size_t place = 0;
            struct heap_region region;
            bool known = heap_state(&region) == 0 && offset_of(next, &place);
            expect(known == is_ours(bytes) && next != memory, "the program gets memory of its own");
            free(next);
        }
    }
}

/* The program's memory that has moved may be freed so, too, before any was born shared. The heap
 * has no thread-specific data yet: once it set that of key 0, UCX's or jemalloc's. */
static void moved_goes_back(void) {
    const pthread_key_t first = 0;
    uint64_t offset;
    const void *before = pthread_getspecific(first);
    void *block = memset(aligned_alloc(page, long_block), 1, long_block);
    expect(before != NULL, "somebody has the first key");
    expect(show(block, long_block, SHOW_NOW, &offset) == SHOWN, "a block moves");
    expect(has_moved(block, long_block, false), "as a whole");
    shown_free(block);
    expect(pthread_getspecific(first) == before, "thread-specific data of others stay");
}

/* All pages of a block but its last one, which holds the beginning of the next block, too. */
static void move_most(char *block, size_t bytes) {
    char *start = (char *)((uintptr_t)block & ~(uintptr_t)(page - 1));
    expect(!in_region(block) || move_it(start, (size_t)(block - start) + bytes) == 0, "it moves");
}

/* Where there was no shared memory the program's was taken, and is given back in the same way, as
 * scratch of the program's is. Parts of it may have moved. */
static void not_born(bool moves) {
    enum { line = 64, many = 300 };
    char *blocks[many];
    malloc_trim(0);
    for (size_t bytes = line; bytes < 32 * page; bytes *= 2) { /* short ones and long ones */
        for (int i = 0; i < many; i++) blocks[i] = malloc(bytes);
        for (int i = 0; i < many && moves; i++) move_most(blocks[i], bytes);
        for (int i = 0; i < many; i++) shown_free(blocks[i]);
        for (int i = 0; i < many; i++) {
            blocks[i] = shown_alloc(&team, bytes);
            memset(blocks[i], 8, bytes);
            uint64_t offset = (uint64_t)(blocks[i] - team.region);
            expect(peer[offset] == 8 && peer[offset + bytes - 1] == 8,
                   "it is not taken for shared");
        }
        for (int i = 0; i < many; i++) shown_free(blocks[i]);
    }
}

/* Somebody takes munmap's place (taker.c), so a mapping could go unseen: what has moved of it is
 * not shown any more, and nothing else moves. */
static void taken(void) {
    uint64_t offset;
    char *first = mmap(NULL, MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *second = mmap(NULL, MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(first, 5, MiB);
    expect(show(first, MiB, SHOW_TO_READERS, &offset) == SHOWN, "a mapping is shown");
    int *takes = dlsym(RTLD_DEFAULT, "taker_takes");
    expect(takes != NULL, "taker.c is preloaded");
    if (takes) *takes = 1;
    expect(show(first, MiB, SHOW_TO_READERS, &offset) == SHOWN_NEVER, "it is not any more");
    expect(move_it(second, MiB) == -EFAULT, "another one does not move");
    if (takes) *takes = 0;
    expect(show(first, MiB, SHOW_TO_READERS, &offset) == SHOWN_NEVER, "nor is it later");
    expect(first[0] == 5 && first[MiB - 1] == 5, "it is as it was");
    char *block = malloc(MiB);
    expect(show(block, MiB, SHOW_TO_READERS, &offset) == SHOWN, "malloc's memory still moves");
    free(block);
}

int main(int count, char **word) {
    struct segment_name name;
    expect(shown_begin(&team, &name) == 0, "the heap is there");
    struct heap_region region;
    expect(heap_state(&region) == 0, "and can be shared");
    peer =
        mmap(NULL, region.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, region.fd, 0);
    expect(peer != MAP_FAILED, "a peer maps it");
    if (failures > 0) return 1;
    if (count > 1 && strcmp(word[1], "taken") == 0) {
        taken();
        return failures > 0;
    }
    ends_go_back();
    short_ones_stay();
    if (count > 1) when_it_pays();
    only_its_own();
    moved_goes_back();
    born();
    not_born(false);
    not_born(true);
    for (int k = 0; k < 4; k++) {
        size_t bytes = long_block + draw(2 * MiB);
        char *block = malloc(bytes);
        at_random(block, bytes, count == 1, "malloc's memory");
        if (k == 1) malloc_trim(0);
        free(block);
    }
    at_random(statics, sizeof statics, count == 1, "static data");
    char *mapped = mmap(NULL, 2 * MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    at_random(mapped, 2 * MiB, count == 1, "the program's mapping");
    munmap(mapped, 2 * MiB);
    char stacked[2 * MiB];
    at_random(stacked, sizeof stacked, count == 1, "the stack");
    return failures > 0;
}
