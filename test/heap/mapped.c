/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped [native|SEED OPERATIONS] - the program's own mappings move, and are private memory all the
 * same: what is unmapped, mapped over, remapped, discarded or forked is as without the heap, and
 * peers never see memory that is gone. Operations drawn at random are compared with a model of
 * every page; `native` does without moves, and without the heap: so the model is Linux's. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

enum { page = 4096, MiB = 1 << 20, usual = PROT_READ | PROT_WRITE };
static const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
static bool native;

static char *map(void *at, size_t bytes, int flags) {
    char *memory = mmap(at, bytes, usual, anonymous | flags, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static char *moved(size_t bytes, int value) {
    char *memory = map(NULL, bytes, 0);
    memset(memory, value, bytes);
    expect(move_it(memory, bytes) == 0 && has_moved(memory, bytes, false), "a mapping moves");
    return memory;
}

static bool is_all(const char *memory, size_t bytes, int value) {
    for (size_t i = 0; i < bytes; i++)
        if (memory[i] != value) return false;
    return true;
}

/* ---- one by one ---- */

static void same_bytes(void) {
    struct heap_region region;
    size_t offset = 0;
    char *memory = moved(MiB, 5);
    expect(is_all(memory, MiB, 5), "it is as it was");
    expect(heap_state(&region) == 0 && offset_of(memory, &offset), "it has a place");
    memory[100] = 6;
    region.alias[offset + 101] = 7;
    expect(region.alias[offset + 100] == 6 && memory[101] == 7, "peers see the same bytes");
    munmap(memory, MiB);
    expect(file_bytes() == 0, "what is unmapped leaves the file");
    char *again = map(memory, MiB, MAP_FIXED_NOREPLACE);
    expect(again == memory && is_all(again, MiB, 0), "new memory at this address is new");
    expect(!has_moved(again, MiB, true), "and private");
    expect(move_it(again, MiB) == 0, "until it moves, too");
    munmap(again, MiB);
}

static void in_parts(void) {
    char *memory = moved(MiB, 5);
    munmap(memory + MiB / 4, MiB / 4);
    expect(!has_moved(memory + MiB / 4, MiB / 4, true) && file_bytes() == 3 * MiB / 4,
           "what is unmapped is gone");
    expect(is_all(memory, MiB / 4, 5) && is_all(memory + MiB / 2, MiB / 2, 5), "the rest stays");
    expect(has_moved(memory, MiB / 4, false) && has_moved(memory + MiB / 2, MiB / 2, false),
           "where it is");
    FILE *file = tmpfile();
    char text[MiB / 4];
    memset(text, 8, sizeof text);
    expect(fwrite(text, sizeof text, 1, file) == 1 && fflush(file) == 0, "a file");
    mmap(memory + MiB / 4, MiB / 4, usual, MAP_PRIVATE | MAP_FIXED, fileno(file), 0);
    expect(is_all(memory + MiB / 4, MiB / 4, 8), "a file is where the hole was");
    expect(move_it(memory, MiB) == -EFAULT && !has_moved(memory + MiB / 4, MiB / 4, true),
           "and does not move");
    mmap(memory + MiB / 2, MiB / 4, usual, MAP_PRIVATE | MAP_FIXED, fileno(file), 0);
    expect(is_all(memory + MiB / 2, MiB / 4, 8) && !has_moved(memory + MiB / 2, MiB / 4, true),
           "a file is mapped over what has moved");
    map(memory + MiB / 4, MiB / 2, MAP_FIXED);
    expect(is_all(memory + MiB / 4, MiB / 2, 0), "memory is mapped over the file");
    expect(move_it(memory + MiB / 4, MiB / 2) == 0, "it moves");
    fclose(file);
    munmap(memory, MiB);
    expect(file_bytes() == 0, "nothing is left in the file");
}

/* However little is left of a mapping, it has its place while it is there. */
static void left(size_t at) {
    const size_t little = 2 * page;
    char *memory = moved(MiB, 5), *other = moved(MiB, 6);
    if (at > 0) munmap(memory, at);
    if (at + little < MiB) munmap(memory + at + little, MiB - at - little);
    munmap(other, MiB); /* which gives back the places that are not needed */
    expect(is_all(memory + at, little, 5), "a few pages stay");
    expect(has_moved(memory + at, little, false), "where they are");
    munmap(memory + at, little);
    expect(file_bytes() == 0, "nothing is left in the file");
}

static void discarded(void) {
    static const int advice[] = {MADV_DONTNEED, MADV_FREE};
    for (int i = 0; i < 2; i++) {
        char *memory = map(NULL, MiB, 0);
        memset(memory, 5, MiB);
        move_it(memory + MiB / 2, MiB / 4);
        expect(madvise(memory + MiB / 4, MiB / 2, advice[i]) == 0, "madvise");
        expect(is_all(memory, MiB / 4, 5) && is_all(memory + 3 * MiB / 4, MiB / 4, 5), "the rest");
        expect(file_bytes() == 0, "the pages are given back");
        expect(is_all(memory + MiB / 2, MiB / 4, 0), "what has moved reads as zeros");
        if (i == 0) expect(is_all(memory + MiB / 4, MiB / 4, 0), "and what has not");
        memset(memory, 6, MiB);
        expect(is_all(memory, MiB, 6), "it can be used again");
        munmap(memory, MiB);
    }
    char *block = memset(malloc(2 * MiB), 5, 2 * MiB);
    char *inner = (char *)(((uintptr_t)block + page) & ~(uintptr_t)(page - 1));
    expect(move_it(block, 2 * MiB) == 0, "malloc's memory moves");
    expect(madvise(inner, MiB, MADV_DONTNEED) == 0 && is_all(inner, MiB, 0), "and is discarded");
    expect(is_all(inner + MiB, MiB - 2 * page, 5), "only what is asked for");
    free(block);
    malloc_trim(0);
    expect(file_bytes() == 0, "all of it leaves the file");
}

static void in_children(void) {
    char *memory = moved(MiB, 5);
    madvise(memory, MiB / 2, MADV_DOFORK);
    pid_t child = fork();
    if (child == 0) {
        bool fine = is_all(memory, MiB, 5);
        memset(memory, 6, MiB);
        munmap(memory + MiB / 2, MiB / 2);
        char *other = map(NULL, MiB, 0);
        fine = fine && move_it(other, MiB) != 0 && munmap(other, MiB) == 0;
        fine = fine && madvise(memory, MiB / 2, MADV_DONTNEED) == 0 && memory[0] == 0;
        _exit(!fine);
    }
    int status = -1;
    expect(waitpid(child, &status, 0) == child && status == 0, "a child has its own");
    expect(is_all(memory, MiB, 5), "the parent has its own");
    munmap(memory, MiB);
}

static char *_Atomic written;
static atomic_bool stop;
static atomic_int lost;

static void *write_there(void *unused) {
    while (!written) sched_yield();
    for (unsigned i = 0; !stop; i++) {
        volatile unsigned *word = (unsigned *)(void *)written + i * 1021 % (MiB / 4);
        *word = i;
        if (*word != i) lost++;
    }
    return unused;
}

static void remapped(void) {
    pthread_t writer;
    pthread_create(&writer, NULL, write_there, NULL); /* its stack would take the room */
    char *room = map(NULL, 8 * MiB, 0);
    munmap(room + MiB, 7 * MiB);
    expect(move_it(room, MiB) == 0, "a mapping moves");
    written = room;
    for (size_t bytes = MiB; bytes < 4 * MiB; bytes += MiB / 4) {
        char *same = mremap(room, bytes, bytes + MiB / 4, 0);
        expect(same == room && is_all(room + bytes, MiB / 4, 0), "it grows where it is");
    }
    for (size_t bytes = 4 * MiB; bytes > MiB; bytes -= MiB / 4)
        expect(mremap(room, bytes, bytes - MiB / 4, 0) == room, "and shrinks");
    stop = true;
    pthread_join(writer, NULL);
    expect(lost == 0, "no store is lost meanwhile");
    memset(room, 5, MiB);
    char *guard = map(room + MiB, page, MAP_FIXED_NOREPLACE);
    expect(guard && mremap(room, MiB, 2 * MiB, 0) == MAP_FAILED && errno == ENOMEM &&
               is_all(room, MiB, 5),
           "where there is no room it does not grow");
    char *longer = mremap(room, MiB, 2 * MiB, MREMAP_MAYMOVE);
    expect(longer != room && is_all(longer, MiB, 5) && is_all(longer + MiB, MiB, 0), "it goes");
    expect(!has_moved(longer, 2 * MiB, true) && file_bytes() == 0, "as private memory");
    expect(move_it(longer, 2 * MiB) == 0, "which moves");
    char *target = moved(2 * MiB, 9);
    expect(mremap(longer, 2 * MiB, 2 * MiB, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target &&
               is_all(target, MiB, 5),
           "it takes the place of another one that has moved");
    expect(!has_moved(target, 2 * MiB, true) && file_bytes() == 0, "of which nothing is left");
    munmap(target, 2 * MiB);
    munmap(guard, page);
}

/* A program that maps a buffer for each call; one of many that are there at the same time. */
static void in_turns(void) {
    enum { many = 100 };
    char *held[many];
    for (int i = 0; i < 2000; i++) {
        size_t bytes = (size_t)(i % 7 + 1) * 64 * 1024;
        char *memory = map(NULL, bytes, 0);
        memset(memory, i, bytes);
        if (move_it(memory, bytes) != 0) expect(false, "each moves");
        expect(memory[bytes - 1] == (char)i, "each is as it was");
        munmap(memory, bytes);
    }
    int moves = 0;
    for (int i = 0; i < many; i++) {
        held[i] = map(NULL, MiB / 2, 0);
        memset(held[i], i, MiB / 2);
        moves += move_it(held[i], MiB / 2) == 0;
    }
    for (int i = 0; i < many; i++) expect(is_all(held[i], MiB / 2, i), "all are as they were");
    printf("of %d mappings %d have moved\n", many, moves);
    expect(moves >= 16, "as many as there are places for");
    for (int i = 0; i < many; i++) munmap(held[i], MiB / 2);
    expect(file_bytes() == 0, "all leave the file");
}

/* Of a mapping that is longer than the region a part can move, and another. */
static void long_ones(void) {
    struct heap_region region;
    heap_state(&region);
    size_t bytes = 2 * region.bytes;
    char *memory = mmap(NULL, bytes, usual, anonymous | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    for (size_t at = 3 * page; at < bytes; at += bytes / 3) {
        memset(memory + at, 5, MiB);
        expect(move_it(memory + at, MiB) == 0 && is_all(memory + at, MiB, 5), "a part moves");
    }
    munmap(memory, bytes);
    expect(file_bytes() == 0, "and leaves the file");
}

/* They do not take the addresses that malloc needs. */
static void many_long_ones(void) {
    enum { many = 40 };
    struct heap_region region;
    heap_state(&region);
    size_t bytes = region.bytes / 16;
    char *held[many];
    int moves = 0;
    for (int i = 0; i < many; i++) {
        held[i] = mmap(NULL, bytes, usual, anonymous | MAP_NORESERVE, -1, 0);
        if (held[i] == MAP_FAILED) return;
        moves += move_it(held[i], MiB) == 0;
    }
    char *block = malloc(16 * MiB);
    printf("of %d long mappings parts of %d have moved\n", many, moves);
    expect(moves >= 4 && in_region(block) && move_it(block, 16 * MiB) == 0, "malloc's move, too");
    free(block);
    for (int i = 0; i < many; i++) munmap(held[i], bytes);
}

static void others(void) {
    char *shared = mmap(NULL, MiB, usual, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    expect(move_it(shared, MiB) == -EFAULT, "shared memory does not move");
    char *stack = map(NULL, MiB, MAP_STACK);
    expect(move_it(stack, MiB) == -EFAULT, "nor what is to be a stack");
    char *raw = (char *)syscall(SYS_mmap, NULL, MiB, usual, anonymous, -1, 0);
    expect(move_it(raw, MiB) == -EFAULT, "nor what is mapped by system calls");
    syscall(SYS_munmap, raw, MiB);
    munmap(shared, MiB);
    munmap(stack, MiB);
}

/* ---- at random ---- */

enum { all_pages = 1024 };
static char *arena;
static struct {
    bool there;
    unsigned value; /* of the page's first and last word */
} model[all_pages];
static unsigned long long state = 1;

static unsigned draw(unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static volatile unsigned *words(unsigned p, int last) {
    return (unsigned *)(void *)(arena + (size_t)p * page + (last ? page - sizeof(unsigned) : 0));
}

static void put(unsigned p, unsigned value) {
    *words(p, 0) = *words(p, 1) = model[p].value = value;
}

static bool all_there(unsigned first, unsigned count) {
    for (unsigned p = first; p < first + count; p++)
        if (!model[p].there) return false;
    return true;
}

static void set_model(unsigned first, unsigned count, bool there) {
    for (unsigned p = first; p < first + count; p++) model[p].there = there, model[p].value = 0;
}

static int wrong_pages(void) {
    int wrong = 0;
    for (unsigned p = 0; p < all_pages; p++)
        if (model[p].there)
            wrong += *words(p, 0) != model[p].value || *words(p, 1) != model[p].value;
    return wrong;
}

/* Behind the model's back nothing is mapped into the arena: holes are shared memory. */
static void make_hole(unsigned first, unsigned count) {
    char *at = arena + (size_t)first * page;
    if (draw(2)) munmap(at, (size_t)count * page);
    mmap(at, (size_t)count * page, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    set_model(first, count, false);
}

static void remap_some(unsigned first, unsigned count, unsigned *failed) {
    unsigned longer = count + draw(2 * count), target = draw(all_pages - longer + 1);
    bool apart = target + longer <= first || target >= first + count;
    char *from = arena + (size_t)first * page, *to = arena + (size_t)target * page;
    if (!apart || !all_there(first, count)) return;
    void *result = mremap(from, (size_t)count * page, (size_t)longer * page,
                          MREMAP_MAYMOVE | MREMAP_FIXED, to);
    if (result != to) { /* of several mappings; the target may be gone (before Linux 6.17) */
        ++*failed;
        make_hole(target, longer);
        return;
    }
    for (unsigned k = 0; k < longer; k++) {
        model[target + k].there = true;
        model[target + k].value = k < count ? model[first + k].value : 0;
    }
    make_hole(first, count);
}

static void act(unsigned what, unsigned first, unsigned count, unsigned counts[]) {
    char *at = arena + (size_t)first * page;
    size_t bytes = (size_t)count * page;
    if (what == 0) {
        make_hole(first, count);
    } else if (what == 1) {
        map(at, bytes, MAP_FIXED);
        set_model(first, count, true);
    } else if (what == 2 && all_there(first, count)) {
        expect(madvise(at, bytes, MADV_DONTNEED) == 0, "MADV_DONTNEED");
        set_model(first, count, true);
    } else if (what == 3 && all_there(first, count)) {
        expect(madvise(at, bytes, MADV_FREE) == 0, "MADV_FREE");
        for (unsigned p = first; p < first + count; p++) put(p, draw(1000));
    } else if (what == 4) {
        remap_some(first, count, &counts[0]);
    } else if (what == 5) {
        for (unsigned p = first; p < first + count; p++)
            if (model[p].there) put(p, draw(1 << 30));
    } else if (!native && all_there(first, count)) {
        counts[move_it(at, bytes) == 0 ? 1 : 2]++;
    }
}

static int at_random(unsigned operations) {
    unsigned counts[3] = {0};
    arena = mmap(NULL, (size_t)all_pages * page, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (unsigned k = 0; k < operations && failures == 0; k++) {
        unsigned count = draw(draw(8) ? 40 : 300) + 1;
        if (draw(40) == 0) {
            map(arena, (size_t)all_pages * page, MAP_FIXED);
            set_model(0, all_pages, true);
        }
        act(draw(9), draw(all_pages - count + 1), count, counts);
        int wrong = wrong_pages();
        if (wrong > 0) printf("operation %u: %d pages are wrong\n", k, wrong);
        expect(wrong == 0, "all is as the model has it");
    }
    munmap(arena, (size_t)all_pages * page);
    printf("%u moves, %u refused; %u remaps refused\n", counts[1], counts[2], counts[0]);
    expect(native || counts[1] > operations / 50, "much has moved");
    expect(native || file_bytes() == 0, "nothing is left in the file");
    return failures;
}

int main(int argc, char **argv) {
    native = argc > 1 && strcmp(argv[1], "native") == 0;
    state = argc > 2 ? strtoull(argv[argc - 2], NULL, 0) : 1;
    if (argc > 2) return at_random((unsigned)atoi(argv[argc - 1])) > 0;
    same_bytes();
    in_parts();
    left(0);
    left(MiB - 2 * page);
    discarded();
    in_children();
    remapped();
    in_turns();
    long_ones();
    many_long_ones();
    others();
    return failures > 0;
}
