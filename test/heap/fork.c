/* SPDX-License-Identifier: BSD-3-Clause */
/* fork - the child gets a private copy of what has moved before it runs, the parent keeps what is
 * shared;
 * children of children; and what a fork must leave alone in a program with threads, handlers, odd
 * stacks and no descriptors. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { blocks = 2000, large = 20 << 20 };
static unsigned char *block[blocks], *large_block;

static size_t size_of(int i) { return (size_t)(i * 37 % 60000 + 1); }

static void fill(int value) {
    for (int i = 0; i < blocks; i++) memset(block[i], (unsigned char)(value + i), size_of(i));
    memset(large_block, value, large);
}

static bool filled(int value) {
    for (int i = 0; i < blocks; i++) {
        if (block[i][0] != (unsigned char)(value + i) ||
            block[i][size_of(i) - 1] != (unsigned char)(value + i))
            return false;
    }
    for (size_t i = 0; i < large; i += 509) {
        if (large_block[i] != (unsigned char)value) return false;
    }
    return true;
}

/* The child's exit code is its number of failures. */
static void finish_child(void) {
    fflush(stdout);
    _exit(failures);
}

static void await(pid_t pid, const char *what) {
    int status = -1;
    expect(pid > 0 && waitpid(pid, &status, 0) == pid, what);
    expect(status == 0, what);
}

static void generation(int depth) {
    int value = 100 + depth;
    fill(value);
    pid_t pid = fork();
    if (pid == 0) {
        failures = 0;
        struct heap_region region;
        expect(heap_state(&region) == -ECHILD && heap_why() != NULL, "the child's heap is private");
        expect(filled(value), "the child sees its parent's data");
        unsigned char *zero = calloc(1, 3 << 20);
        expect(zero && zero[0] == 0 && zero[(3 << 20) - 1] == 0, "the child's calloc");
        free(zero);
        for (int i = 0; i < blocks; i += 2) {
            free(block[i]);
            block[i] = malloc(size_of(i));
        }
        if (depth < 3) generation(depth + 1);
        else fill(0);
        finish_child();
    }
    await(pid, "the child is content");
    expect(filled(value), "the child's stores do not reach the parent");
}

static void plain_fork(const char *what) {
    fill(7);
    pid_t pid = fork();
    if (pid == 0) {
        failures = 0;
        expect(filled(7), what);
        fill(8);
        finish_child();
    }
    fill(9); /* at once: fork must have waited for the copy */
    await(pid, what);
    expect(filled(9), what);
}

/* glibc's fork clears, in the child, the thread-specific data of all other threads: malloc'ed from
 * the 33rd key on. It also resets the locks of all open files: malloc'ed too. Neither may be seen
 * in the parent. */
enum { keys = 100 };
static pthread_key_t key[keys];
static FILE *file;
static pthread_barrier_t barrier;

static void *hold(void *unused) {
    for (int i = 0; i < keys; i++) pthread_setspecific(key[i], &key[i]);
    flockfile(file);
    pthread_barrier_wait(&barrier); /* fork */
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < keys; i++)
        expect(pthread_getspecific(key[i]) == &key[i], "thread-specific data survive a fork");
    funlockfile(file);
    return unused;
}

static void beside_a_thread(void) {
    pthread_t thread;
    for (int i = 0; i < keys; i++) pthread_key_create(&key[i], NULL);
    file = fopen("/dev/null", "w");
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, hold, NULL);
    pthread_barrier_wait(&barrier);
    plain_fork("fork beside a thread");
    if (ftrylockfile(file) == 0) expect(false, "another thread's lock of a file survives a fork");
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    fclose(file);
}

static ucontext_t home, away;

static void fork_on_this_stack(void) { plain_fork("fork on a malloc'ed stack"); }

static void odd_stack(void) {
    void *stack = malloc(256 << 10);
    expect(move_it(stack, 256 << 10) == 0, "the stack moves");
    getcontext(&away);
    away.uc_stack.ss_sp = stack;
    away.uc_stack.ss_size = 256 << 10;
    away.uc_link = &home;
    makecontext(&away, fork_on_this_stack, 0);
    swapcontext(&home, &away);
    free(stack);
}

static void handler(int number) {
    (void)number;
    _exit(42);
}

static void signals(void) {
    static char space[32 << 10];
    sigset_t mask, after;
    stack_t stack = {.ss_sp = space, .ss_size = sizeof space}, stack_after;
    struct sigaction action = {.sa_handler = handler}, action_after;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    pid_t pid = fork();
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    sigaltstack(NULL, &stack_after);
    sigaction(SIGSEGV, NULL, &action_after);
    if (pid == 0) failures = 0;
    expect(sigismember(&after, SIGUSR1) && !sigismember(&after, SIGUSR2),
           "the signal mask survives a fork");
    expect(stack_after.ss_sp == space && stack_after.ss_flags == 0,
           "the alternate stack survives a fork");
    expect(action_after.sa_handler == handler, "the SIGSEGV handler survives a fork");
    if (pid == 0) {
        if (failures > 0) finish_child();
        volatile uintptr_t nowhere = 64;
        *(volatile int *)nowhere = 0;
    }
    int status = -1;
    expect(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 42,
           "the child's own fault reaches its handler");
    signal(SIGSEGV, SIG_DFL);
}

static void without_descriptors(void) {
    static int taken[5000];
    int count = 0;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    struct rlimit small = {.rlim_cur = 1000, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &small);
    while (count < 5000 && (taken[count] = dup(STDIN_FILENO)) >= 0) count++;
    expect(count < 5000, "descriptors run out");
    plain_fork("fork without a free descriptor");
    while (count > 0) close(taken[--count]);
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* No handler runs in these children. They must not write to their parent's memory. */
static void raw_children(void) {
    fill(5);
    for (int moved = 0; moved < 2; moved++) {
        unsigned char *touched = large_block + (moved ? large / 4 : large / 4 * 3);
        pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (pid == 0) {
            *(volatile unsigned char *)touched = 6;
            syscall(SYS_exit_group, 0);
        }
        int status = -1;
        expect(waitpid(pid, &status, 0) == pid, "a child of clone");
        expect(moved ? WIFSIGNALED(status) : status == 0,
               moved ? "what has moved is not there" : "what has not is its own");
        expect(*touched == 5, "the parent's memory is as it was");
    }
}

/* Last: these change the process for good. */
static void closed_descriptors(void) {
    struct heap_region region;
    for (int fd = 3; fd < 2000; fd++) close(fd);
    expect(heap_state(&region) == -EBADF && heap_why() != NULL, "a closed descriptor is noticed");
    plain_fork("fork with the heap's descriptor closed");
    for (int i = 0; i < 1500; i++) expect(dup(STDIN_FILENO) >= 0 || errno == EMFILE, "dup");
    expect(heap_state(&region) == -EBADF, "another file under the same number is noticed");
    plain_fork("fork with another file under the descriptor's number");
    for (int fd = 3; fd < 2000; fd++) close(fd);
}

static void refused_fork(void) {
    struct rlimit none = {0, 0};
    if (geteuid() == 0 && setuid(65534) != 0) return; /* root may fork without limit */
    setrlimit(RLIMIT_NPROC, &none);
    errno = 0;
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    expect(pid == -1 && errno == EAGAIN, "fork is refused, with its own errno");
    void *after = malloc(100);
    expect(after && filled(9), "the heap after a refused fork");
    free(after);
}

int main(void) {
    struct heap_region region;
    expect(heap_state(&region) == 0, "the heap is shared");
    for (int i = 0; i < blocks; i++) block[i] = malloc(size_of(i));
    large_block = malloc(large);
    expect(!has_moved(large_block, large, true), "nothing has moved at first");
    generation(-1); /* a child that forks in turn has a heap of its own */
    fill(1);
    expect(move_it(large_block, large / 2) == 0 && has_moved(large_block, large / 2, false),
           "half of a block moves");
    /* As where a buffer ends that peers have read: the file's bytes are older. */
    size_t offset = 0, behind;
    expect(offset_of(large_block, &offset), "it has a place");
    behind = (offset + large / 2) / region.page * region.page;
    memset(region.alias + behind, 99, region.page);
    for (int i = 0; i < blocks; i += 3)
        if (in_region(block[i])) expect(move_it(block[i], size_of(i)) == 0, "pages move");
    expect(filled(1), "what has moved is what was there");
    generation(0);
    beside_a_thread();
    odd_stack();
    signals();
    expect(system("exit 3") == 3 << 8, "system");
    FILE *pipe = popen("echo popen", "r");
    char line[16] = "";
    expect(pipe && fgets(line, sizeof line, pipe) && strcmp(line, "popen\n") == 0 &&
               pclose(pipe) == 0,
           "popen");
    expect(heap_state(&region) == 0, "the parent's heap is still shared");
    void *fresh = malloc(3 << 20);
    expect(in_region(fresh), "and gives memory of the region");
    without_descriptors();
    raw_children();
    closed_descriptors();
    refused_fork();
    return failures > 0;
}
