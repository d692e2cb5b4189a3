/* SPDX-License-Identifier: BSD-3-Clause */
/* adopt - MORTAR_ADOPT: static data keep their contents and addresses, lie in the region, stay
 * sparse, and a fork gives the child its own. Built as PIE and at a fixed address, lazily bound. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MiB = 1 << 20 };
static char array[64 * MiB], sparse[(size_t)SPARSE_MIB * MiB],
    page_sized[3 * 4096] __attribute__((aligned(4096)));
static int table[100000] = {1, 2, 3, [50000] = 55, [99999] = 77};
static const char *volatile words[] = {"one", "two"};
static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
static int (*volatile functions[])(int) = {twice, thrice};
static int *volatile inside = &table[99999];         /* a relocation */
static int *const closed[] = {&table[0], &table[1]}; /* RELRO */
static _Thread_local int local = 5;
static int from_preinit, from_constructor;
static char *early_text;

/* Before any library's constructor, and after all of them. */
static void preinit(void) {
    from_preinit = 11;
    array[5 * MiB] = 1;
    early_text = strdup("early");
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = preinit;
__attribute__((constructor)) static void construct(void) { from_constructor = from_preinit + 1; }

static bool adopted_offset(const void *address, size_t bytes, size_t *offset) {
    struct heap_region region;
    if (heap_state(&region) != 0) return false;
    for (int i = 0; i < region.adopted_count; i++) {
        size_t at = (size_t)((const char *)address - region.adopted[i].start);
        *offset = region.adopted[i].offset + at;
        if (at < region.adopted[i].bytes && bytes <= region.adopted[i].bytes - at) return true;
    }
    return false;
}

static size_t resident(void) {
    struct heap_region region;
    struct stat facts = {0};
    expect(heap_state(&region) == 0 && fstat(region.fd, &facts) == 0, "the heap is shared");
    return (size_t)facts.st_blocks * 512;
}

static void contents(void) {
    expect(table[0] == 1 && table[2] == 3 && table[50000] == 55 && table[99999] == 77 &&
               table[50] == 0,
           "initialised data");
    expect(strcmp(words[1], "two") == 0 && functions[0](4) == 8 && functions[1](4) == 12,
           "tables of pointers");
    expect(inside == &table[99999] && *inside == 77 && local == 5,
           "relocated pointers, thread-local data");
    expect(from_preinit == 11 && from_constructor == 12 && array[5 * MiB] == 1,
           "what ran before and after the constructor");
    expect(strcmp(early_text, "early") == 0, "malloc before the constructor");
    expect(environ && getenv("MORTAR_ADOPT") != NULL && fileno(stdout) == 1, "copied symbols");
    volatile double x = 0.5;
    expect(fabs(cos(x) - 0.877582561890373) < 1e-12, "a function bound late");
}

static void in_the_region(void) {
    size_t offset = 0;
    struct heap_region region;
    expect(heap_state(&region) == 0, "the heap is shared");
    expect(adopted_offset(array, sizeof array, &offset), "a static array is adopted");
    array[123] = 45;
    expect(region.base[offset + 123] == 45, "the region shows the same bytes");
    region.base[offset + 124] = 46;
    expect(*(volatile char *)&array[124] == 46, "both ways");
    expect(adopted_offset(table, sizeof table, &offset), "initialised data are adopted");
    expect(region.base[offset + 4] == 2, "at their offset");
    expect(adopted_offset(sparse, sizeof sparse, &offset), "so is a large array");
    expect(!adopted_offset(&region, 1, &offset) &&
               !adopted_offset((void *)(uintptr_t)contents, 1, &offset),
           "nothing else is");
    expect(*(int *const volatile *)closed == table &&
               !adopted_offset(closed, sizeof closed, &offset),
           "RELRO is not");
    expect(resident() < 32 * MiB, "untouched pages use no memory");
    sparse[(size_t)(SPARSE_MIB - 100) * MiB] = 9;
    expect(resident() < 40 * MiB, "touched pages use their own memory");
    char *program_break = sbrk(0), *more = sbrk(8192);
    expect(more == program_break, "the program break is where it was");
    memset(more, 3, 8192);
    expect(more[8191] == 3 && sbrk(-8192) == more + 8192, "and can be moved");
}

static void finish_child(void) {
    fflush(stdout);
    _exit(failures);
}

static void await(pid_t pid, const char *what) {
    int status = -1;
    expect(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, what);
}

static sigjmp_buf back;
static void jump(int number) { siglongjmp(back, number); }
static bool writable(volatile char *address) {
    signal(SIGSEGV, jump);
    bool fine = sigsetjmp(back, 1) == 0;
    if (fine) *address = 1;
    signal(SIGSEGV, SIG_DFL);
    return fine;
}

static void forks(int depth) {
    size_t offset;
    array[7] = 1, table[10] = 100 + depth, sparse[(size_t)(SPARSE_MIB - 1) * MiB] = 3;
    pid_t pid = fork();
    if (pid == 0) {
        failures = 0;
        contents();
        expect(!adopted_offset(array, 1, &offset), "the child's static data are private");
        expect(array[7] == 1 && table[10] == 100 + depth &&
                   sparse[(size_t)(SPARSE_MIB - 1) * MiB] == 3,
               "the parent's data");
        expect(page_sized[4096] == 21 && page_sized[0] == 20, "protected and mapped over");
        expect(!writable(&page_sized[0]) && writable(&page_sized[2 * 4096]), "protected as before");
        array[7] = 2, table[10] = 0, sparse[(size_t)(SPARSE_MIB - 1) * MiB] = 4,
        page_sized[4096] = 99;
        usleep(20000);
        expect(array[7] == 2, "the parent's stores do not reach the child");
        page_sized[4096] = 21;
        if (depth < 2) forks(depth + 1);
        finish_child();
    }
    array[7] = 50;
    await(pid, "the child is content");
    expect(array[7] == 50 && table[10] == 100 + depth &&
               sparse[(size_t)(SPARSE_MIB - 1) * MiB] == 3,
           "the child's stores stay there");
    expect(page_sized[4096] == 21, "nor on a private page");
}

/* A static stack for signals, and children that share all memory. */
static void others(void) {
    static char signals[64 << 10];
    stack_t stack = {.ss_sp = signals, .ss_size = sizeof signals}, after;
    sigaltstack(&stack, NULL);
    forks(2);
    sigaltstack(NULL, &after);
    expect(after.ss_sp == signals && !(after.ss_flags & SS_DISABLE),
           "the alternate stack survives");
    expect(system("exit 3") == 3 << 8, "system");
    char *arguments[] = {"true", NULL};
    pid_t pid;
    expect(posix_spawnp(&pid, "true", NULL, NULL, arguments, environ) == 0, "posix_spawn");
    await(pid, "the spawned program");
    static int from_vfork;
    pid = vfork();
    if (pid == 0) {
        from_vfork = 6;
        _exit(0);
    }
    await(pid, "vfork");
    expect(from_vfork == 6, "vfork shares as it always did");
}

int main(int count, char **word) {
    contents();
    size_t offset;
    if (count > 1) { /* why it must not be adopted */
        expect(!adopted_offset(array, 1, &offset) && !adopted_offset(table, 1, &offset), word[1]);
        return failures > 0;
    }
    in_the_region();
    page_sized[0] = 20;
    mprotect(page_sized, 4096, PROT_READ);
    expect(mmap(page_sized + 4096, 4096, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page_sized + 4096,
           "map over a page");
    page_sized[4096] = 21;
    forks(0);
    others();
    contents();
    struct heap_region region;
    expect(heap_state(&region) == 0 && region.adopted_count > 0, "the parent's are still adopted");
    return failures > 0;
}
