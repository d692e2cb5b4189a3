/* SPDX-License-Identifier: BSD-3-Clause */
/* statics - static data of the executable move page by page: they keep contents and addresses, stay
 * sparse and protected, and a fork gives the child its own. Other libraries' do not move. Built as
 * PIE and at a fixed address, lazily bound. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MiB = 1 << 20 };
static char array[64 * MiB], sparse[(size_t)1024 * MiB],
    page_sized[3 * 4096] __attribute__((aligned(4096)));
static int table[100000] = {1, 2, 3, [50000] = 55, [99999] = 77};
static int *volatile inside = &table[99999]; /* a relocation */

static void contents(void) {
    expect(table[0] == 1 && table[2] == 3 && table[50000] == 55 && table[99999] == 77 &&
               table[50] == 0,
           "initialised data");
    expect(inside == &table[99999] && *inside == 77, "relocated pointers");
}

static void through_the_file(void) {
    struct heap_region region;
    size_t offset = 0;
    expect(heap_state(&region) == 0 && offset_of(array, &offset), "the array has a place");
    offset += 2 * MiB;
    array[2 * MiB] = 45;
    expect(region.alias[offset] == 45, "the file shows the same bytes");
    region.alias[offset + 1] = 46;
    expect(*(volatile char *)&array[2 * MiB + 1] == 46, "both ways");
}

static void forks(void) {
    array[7 * MiB] = 1, table[10] = 100;
    pid_t pid = fork();
    if (pid == 0) {
        failures = 0;
        contents();
        expect(array[7 * MiB] == 1 && table[10] == 100 && page_sized[0] == 20, "the parent's data");
        array[7 * MiB] = 2, table[10] = 0;
        fflush(stdout);
        _exit(failures);
    }
    array[7 * MiB] = 50;
    int status = -1;
    expect(waitpid(pid, &status, 0) == pid && status == 0, "the child is content");
    expect(array[7 * MiB] == 50 && table[10] == 100, "the child's stores stay there");
}

int main(void) {
    contents();
    array[5 * MiB] = 1, sparse[500 * MiB] = 9, page_sized[0] = 20;
    expect(move_it(array, sizeof array) == 0 && has_moved(array, sizeof array, false), "an array");
    expect(move_it(table, sizeof table) == 0 && has_moved(table, sizeof table, false),
           "initialised data");
    contents();
    expect(array[5 * MiB] == 1 && array[6 * MiB] == 0, "what it held");
    expect(move_it(sparse, sizeof sparse) == 0 && sparse[500 * MiB] == 9, "a sparse array");
    expect(file_bytes() < 16 * MiB, "untouched pages use no memory");
    mprotect(page_sized, 4096, PROT_READ);
    expect(move_it(page_sized, 8192) == 0 && page_sized[0] == 20, "a protected page moves");
    int pipe_ends[2];
    expect(pipe(pipe_ends) == 0 && write(pipe_ends[1], "x", 1) == 1 &&
               read(pipe_ends[0], page_sized, 1) == -1 && errno == EFAULT,
           "and is as protected as before");
    through_the_file();
    expect(move_it(&stdin, 3 * 4096) != 0 || !has_moved(stdin, 4096, true), "not the C library's");
    forks();
    contents();
    return failures > 0;
}
