/* SPDX-License-Identifier: BSD-3-Clause */
/* state - an ordinary program: allocates, checks, forks, and then says what it knows of the
 * heap. */
#include "heap_test.h"

#include <sys/wait.h>
#include <unistd.h>

enum { count = 600 };
static unsigned char *block[count];

static size_t size_of(int i) {
    return (size_t)(i % 10 == 0 ? 2000000 : i * 17 + long_block); /* 120 MiB in all */
}

int main(void) {
    int inside = 0;
    for (int i = 0; i < count; i++) {
        block[i] = malloc(size_of(i));
        expect(block[i] != NULL, "malloc");
        if (block[i]) memset(block[i], i, size_of(i));
        inside += in_region(block[i]);
    }
    pid_t pid = fork();
    int status = -1;
    if (pid == 0) {
        for (int i = 0; i < count; i++) {
            if (block[i][size_of(i) - 1] != (unsigned char)i) _exit(1);
            memset(block[i], 0, size_of(i));
        }
        _exit(0);
    }
    expect(waitpid(pid, &status, 0) == pid && status == 0, "the child sees its parent's data");
    for (int i = 0; i < count; i++) {
        expect(block[i][0] == (unsigned char)i && block[i][size_of(i) - 1] == (unsigned char)i,
               "contents");
        free(block[i]);
    }
    const char *why = heap_why();
    printf("%s blocks in the region; %s\n",
           inside == count ? "all"
           : inside > 0    ? "some"
                           : "no",
           why ? why : "shared");
    return failures > 0;
}
