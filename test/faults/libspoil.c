/* SPDX-License-Identifier: BSD-3-Clause */
/* libspoil - mistakes for the campaign to find, preloaded on mortar's side only. $SPOIL is one of
 *   leave  files stay behind in /dev/shm and $TMPDIR, and a process
 *   code   rank 0 ends with exit code 1 after all was right
 *   hang   rank 0 does not end
 * (test/bench/wrong.c makes wrong results.) */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *what) { return getenv("SPOIL") && strcmp(getenv("SPOIL"), what) == 0; }

static int is_first(void) {
    const char *rank = getenv("PMI_RANK");
    if (!rank) rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank && strcmp(rank, "0") == 0;
}

static void leave(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/spoil-%d", folder, (int)getpid());
    int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
}

__attribute__((constructor)) static void first(void) {
    if (!is_first() || !is("leave")) return;
    leave("/dev/shm");
    if (getenv("TMPDIR")) leave(getenv("TMPDIR"));
    if (fork() != 0) return;
    setsid();
    for (int i = 0; i < 1024; i++) close(i);
    sleep(600);
    _exit(0);
}

__attribute__((destructor)) static void last(void) {
    if (is_first() && is("code")) _exit(1);
    while (is_first() && is("hang")) pause();
}
