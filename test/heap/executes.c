/* SPDX-License-Identifier: BSD-3-Clause */
/* executes - a library that needs an executable stack (nested.c), loaded after parts of the stack
 * have moved, or before (before): its functions run on all of it, also in children. */
#include "heap_test.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { long_bytes = 1 << 20, frame = 16 << 10, page = 4096 };

static int (*nested)(int);

static __attribute__((noinline)) void moves(void) {
    char memory[long_bytes];
    memset(memory, 1, sizeof memory);
    expect(move_it(memory, sizeof memory) == 0 && has_moved(memory, sizeof memory, false),
           "a buffer on the stack");
}

/* In frames above, on and below the pages that have moved. */
static __attribute__((noinline)) bool descends(int levels) {
    volatile char local[frame];
    local[0] = local[frame - 1] = (char)levels;
    bool fine = nested(levels) == 4 * levels && (levels == 0 || descends(levels - 1));
    return fine && local[0] == (char)levels;
}

static void *on_another(void *fine) {
    *(bool *)fine = descends(20);
    return NULL;
}

static bool in_child(bool (*run)(int), int levels) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) _exit(!run(levels));
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* It forks on pages that have moved. */
static __attribute__((noinline)) bool forks(int levels) {
    volatile char local[frame];
    local[0] = (char)levels;
    bool fine = levels > 0 ? forks(levels - 1) : in_child(descends, 80);
    return fine && local[0] == (char)levels;
}

static void load(void) {
    void *library = dlopen(NESTED, RTLD_NOW);
    if (!library) { /* glibc 2.41 makes no stack executable */
        printf("skipped: %s\n", dlerror());
        exit(77);
    }
    void *symbol = dlsym(library, "nested");
    memcpy(&nested, &symbol, sizeof nested);
}

/* A page that the program protects stays as it is. */
static __attribute__((noinline)) void loads_guarded(void) {
    char memory[8 * page];
    char *guard = memory + 4 * page - (uintptr_t)memory % page;
    memset(memory, 1, sizeof memory);
    mprotect(guard, page, PROT_READ);
    load();
    int said[2];
    expect(pipe(said) == 0 && write(said[1], "x", 1) == 1, "a pipe");
    expect(read(said[0], guard, 1) < 0, "the guard is one still");
    mprotect(guard, page, PROT_READ | PROT_WRITE | PROT_EXEC);
}

int main(int argc, char **argv) {
    bool before = argc > 1 && strcmp(argv[1], "before") == 0, fine = false;
    if (before) load();
    moves();
    if (!before) loads_guarded();
    expect(descends(100), "on all of the stack");
    moves();
    expect(descends(100), "after another move");
    expect(in_child(descends, 80), "in a child");
    expect(forks(20), "in a child of a frame that has moved");
    pthread_t thread;
    pthread_create(&thread, NULL, on_another, &fine);
    pthread_join(thread, NULL);
    expect(fine, "in a thread");
    return failures > 0;
}
