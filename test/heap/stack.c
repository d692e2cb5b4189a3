/* SPDX-License-Identifier: BSD-3-Clause */
/* stack - buffers on the stack of the thread that began with main move page by page: they keep
 * contents and addresses, later functions use the pages as ever, the stack grows on, and a fork,
 * also one that runs on such pages, and forkpty and daemon, gives the child its own. Who asks is
 * told of all of it. Other threads' stacks do not move, nor what is mapped where the stack could
 * grow to. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <errno.h>
#include <pthread.h>
#include <pty.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { page = 4096, long_bytes = 1 << 20, frame = 16 << 10, depth = 40 };

static unsigned char byte_of(size_t i) { return (unsigned char)(i * 7 + (i >> 12)); }

static void fill(char *memory, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) memory[i] = (char)byte_of(i);
}

static bool is_filled(const char *memory, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)memory[i] != byte_of(i)) return false;
    return true;
}

/* A buffer whose inner pages move; the pages at its ends stay. */
static __attribute__((noinline)) void moves(void) {
    struct heap_region region;
    char memory[long_bytes];
    fill(memory, sizeof memory);
    char *start = memory + long_bytes / 2;
    size_t offset = 0;
    expect(move_it(memory, sizeof memory) == 0 && has_moved(memory, sizeof memory, false),
           "a buffer on the stack");
    expect(is_filled(memory, sizeof memory), "what it held");
    expect(heap_state(&region) == 0 && offset_of(start, &offset), "it has a place");
    expect(region.alias[offset + 5] == start[5], "the file shows the same bytes");
    region.alias[offset + 6] = 77;
    expect(*(volatile char *)&start[6] == 77, "both ways");
    expect(move_it(memory, sizeof memory) == 0, "it has moved already");
}

/* Frames of functions on all pages that have moved: stores, and loads on the way back. */
static __attribute__((noinline)) bool descends(int levels) {
    volatile char local[frame];
    for (int i = 0; i < frame; i += 64) local[i] = (char)(levels + i);
    bool fine = levels == 0 || descends(levels - 1);
    for (int i = 0; i < frame; i += 64) fine = fine && local[i] == (char)(levels + i);
    return fine;
}

/* Child and parent go on, on pages that have moved, and must not see each other's stores. */
static __attribute__((noinline)) void forks(int levels, pid_t (*split)(void)) {
    volatile char local[frame];
    for (int i = 0; i < frame; i += 64) local[i] = (char)(levels + i);
    if (levels > 0) {
        forks(levels - 1, split);
    } else {
        expect(has_moved((void *)local, frame, false), "it runs on pages that have moved");
        pid_t pid = split();
        expect(pid >= 0, "fork");
        if (pid == 0) {
            failures = 0;
            expect(descends(depth / 2), "the child uses its stack");
            usleep(20000);
            for (int i = 0; i < frame; i += 64)
                expect(local[i] == (char)(levels + i), "the child's frame");
            local[64] = 99;
            fflush(stdout);
            _exit(failures);
        }
        expect(descends(depth / 2), "the parent uses its stack");
        local[128] = 98;
        int status = -1;
        expect(waitpid(pid, &status, 0) == pid && status == 0, "the child is content");
        expect(local[64] == (char)(levels + 64) && local[128] == 98,
               "the child's stores stay there");
    }
}

/* Where the stack ends and how long it is, as runtimes ask the C library. */
struct told {
    char *start;
    size_t bytes;
};

static struct told told_now(void) {
    struct told told = {0};
    pthread_attr_t attributes;
    void *start = NULL;
    expect(pthread_getattr_np(pthread_self(), &attributes) == 0, "pthread_getattr_np");
    pthread_attr_getstack(&attributes, &start, &told.bytes);
    pthread_attr_destroy(&attributes);
    told.start = start;
    return told;
}

static void is_told(struct told before) {
    struct told now = told_now();
    char here, *at = &here;
    expect(now.start <= at && at < now.start + now.bytes, "it holds this frame");
    expect(now.start == before.start && now.bytes == before.bytes, "and is as long as it was");
}

static void *on_another(void *unused) {
    char memory[8 * page];
    fill(memory, sizeof memory);
    expect(move_it(memory, sizeof memory) == -EFAULT, "another thread's stack does not move");
    expect(is_filled(memory, sizeof memory), "and is as it was");
    is_told(told_now());
    return unused;
}

/* Mappings of the program where the stack might grow to, but has not. Too short to move. */
static void below(void) {
    char here;
    char *wanted = &here - (uintptr_t)&here % page - (size_t)4 * long_bytes;
    char *mapped = mmap(wanted, 8 * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped == MAP_FAILED) return;
    fill(mapped, 8 * page);
    expect(move_it(mapped, 8 * page) == -EFAULT,
           "what the program has mapped below the stack does not move");
    munmap(mapped, 8 * page);
}

static pid_t in_terminal(void) {
    int master;
    return forkpty(&master, NULL, NULL, NULL);
}

/* Who calls this ends, with 0; what goes on is its child. */
static __attribute__((noinline)) void leaves(int levels) {
    volatile char local[frame];
    for (int i = 0; i < frame; i += 64) local[i] = (char)(levels + i);
    if (levels > 0) {
        leaves(levels - 1);
    } else {
        expect(has_moved((void *)local, frame, false), "it runs on pages that have moved");
        fflush(stdout);
        expect(daemon(1, 1) == 0, "daemon");
        expect(descends(depth / 2), "the daemon uses its stack");
    }
    for (int i = 0; i < frame; i += 64)
        expect(local[i] == (char)(levels + i), "the daemon's frame");
}

/* In a child of main, which hears of the daemon by a pipe. */
static int tests(int said) {
    struct rlimit limit;
    struct heap_region region;
    getrlimit(RLIMIT_STACK, &limit);
    heap_state(&region); /* its mappings are there, below the stack */
    struct told before = told_now();
    below();
    moves();
    below();
    expect(descends(depth), "functions use the pages");
    moves();
    is_told(before);
    forks(10, fork);
    forks(10, in_terminal);
    pid_t child = fork();
    if (child == 0) {
        failures = 0;
        is_told(before);
        fflush(stdout);
        _exit(failures);
    }
    int status = -1;
    expect(waitpid(child, &status, 0) == child && status == 0, "a child is told the same");
    is_told(before);
    pthread_t thread;
    pthread_create(&thread, NULL, on_another, NULL);
    pthread_join(thread, NULL);
    expect(descends(limit.rlim_cur / frame > 600 ? 600 : 100), "the stack grows on");
    leaves(10);
    return write(said, failures > 0 ? "n" : "y", 1) != 1;
}

int main(void) {
    int said[2], status = -1;
    char word = 0;
    if (pipe(said) != 0) return 1;
    pid_t child = fork();
    if (child == 0) {
        close(said[0]);
        return tests(said[1]);
    }
    close(said[1]);
    expect(read(said[0], &word, 1) == 1 && word == 'y', "the daemon is content");
    expect(waitpid(child, &status, 0) == child && status == 0, "all else, too");
    return failures > 0;
}
