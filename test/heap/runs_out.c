/* SPDX-License-Identifier: BSD-3-Clause */
/* runs_out limit|keys - where jemalloc has no block the C library has: under a limit, with more
 * blocks than the heap's tables have room for; and in a program that has taken all keys for
 * threads' own data before its first long block. */
#include "heap_test.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>

enum { blocks = 10000, bytes = 100000 };
static char *block[blocks];

static void fill(int i, char *fresh) {
    expect(fresh != NULL, "there is memory");
    if (!fresh) exit(1);
    memset(block[i] = fresh, i, bytes);
}

int main(int argc, char **argv) {
    pthread_key_t key;
    struct rlimit limit = {(size_t)8 << 30, RLIM_INFINITY};
    if (argc > 1 && strcmp(argv[1], "keys") == 0)
        while (pthread_key_create(&key, NULL) == 0) continue;
    else if (setrlimit(RLIMIT_DATA, &limit) != 0)
        return 77;
    for (int i = 0; i < blocks; i++) {
        if (i % 3 == 0) fill(i, malloc(bytes));
        if (i % 3 == 1) fill(i, memalign(64, bytes));
        if (i % 3 == 2) fill(i, calloc(bytes, 1));
    }
    for (int i = 0; i < blocks; i += 2) {
        block[i] = realloc(block[i], 2 * bytes);
        expect(block[i] && block[i][0] == (char)i && block[i][bytes - 1] == (char)i, "realloc");
        free(block[i]);
        fill(i, malloc(bytes));
    }
    for (int i = 0; i < blocks; i++) {
        expect(block[i][0] == (char)i && block[i][bytes - 1] == (char)i, "contents");
        free(block[i]);
    }
    return failures > 0;
}
