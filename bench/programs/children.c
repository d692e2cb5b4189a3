/* SPDX-License-Identifier: BSD-3-Clause */
/* children - fork and exec: a process of --size MiB has --iterations children, one after the
 * other, and makes no collective. A child of fork writes to a little of the memory, which its
 * parent must not see; a child of exec becomes /bin/true. */
#define _GNU_SOURCE
#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { mib = 1 << 20 };

/* The child's part: wrong if it does not see what its parent wrote. */
static int work(char *block, size_t bytes, int step) {
    size_t at = (size_t)drawn(step, 1, (int)(bytes / mib)) * mib;
    int wrong = 0;
    for (int i = 0; i < 64; i++) wrong += block[bytes / 64 * (size_t)i] != 7;
    memset(block + at, 9, mib);
    return wrong != 0 || block[at] != 9;
}

static void have_children(struct run *run, bool exec) {
    size_t bytes = (size_t)run->size * mib;
    char *block = memset(untouched(bytes), 7, bytes);
    for (int step = 0; step < run->iterations; step++) {
        pid_t child = fork();
        if (child == 0 && exec) execl("/bin/true", "true", (char *)NULL);
        if (child == 0) _exit(exec ? 1 : work(block, bytes, step));
        int status = 1;
        run->wrong += child < 0 || waitpid(child, &status, 0) != child || status != 0;
        run->wrong += block[(size_t)drawn(step, 1, run->size) * mib] != 7;
    }
    look(run);
    free(block);
}

void program_fork(struct run *run) { have_children(run, false); }

void program_exec(struct run *run) { have_children(run, true); }
