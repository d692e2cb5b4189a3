/* SPDX-License-Identifier: BSD-3-Clause */
/* cancelled - a thread that is to be cancelled calls malloc, which makes the region, fork and
 * setrlimit: these are no places where it ends. Afterwards the others go on. */
#include "heap_test.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { bytes = 4 << 20 };
static char *block;
static int done;

static void *allocates(void *state) {
    pthread_cancel(pthread_self());
    block = malloc(bytes);
    done++;
    pthread_testcancel();
    return state;
}

static void *forks(void *state) {
    pthread_cancel(pthread_self());
    pid_t child = fork();
    if (child == 0) _exit(block[bytes / 2] != 7);
    *(pid_t *)state = child;
    done++;
    pthread_testcancel();
    return NULL;
}

static void *limits(void *state) {
    struct rlimit limit = {(size_t)32 << 30, RLIM_INFINITY};
    pthread_cancel(pthread_self());
    done += setrlimit(RLIMIT_AS, &limit) == 0;
    pthread_testcancel();
    return state;
}

static void run(void *(*function)(void *), void *state) {
    pthread_t thread;
    void *result = NULL;
    int before = done;
    expect(pthread_create(&thread, NULL, function, state) == 0, "pthread_create");
    expect(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED, "it was cancelled");
    expect(done == before + 1, "too early");
    free(malloc(2 * bytes));
}

int main(void) {
    pid_t child = -1;
    int status = -1;
    run(allocates, NULL);
    run(limits, NULL);
    if (!in_region(block)) return 1;
    memset(block, 7, bytes);
    expect(move_it(block, bytes) == 0, "it moves");
    run(forks, &child);
    expect(waitpid(child, &status, 0) == child && status == 0, "the child");
    free(block);
    return failures > 0;
}
