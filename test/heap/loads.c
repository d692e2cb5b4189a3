/* SPDX-License-Identifier: BSD-3-Clause */
/* loads - a program that is linked with another malloc (linked.c), and that loads a library whose
 * constructor waits for a thread (constructs.c). */
#include "heap_test.h"

#include <malloc.h>

int main(void) {
    char *block = memset(malloc(100), 1, 100);
    block = realloc(block, long_block);
    expect(block && block[99] == 1 && malloc_usable_size(block) >= long_block, "realloc");
    free(block);
    void *short_one = malloc(100);
    expect(malloc_usable_size(short_one) >= 100, "malloc_usable_size");
    free(short_one);
    void *library = dlopen(CONSTRUCTS, RTLD_NOW);
    const int *constructed = library ? dlsym(library, "constructed") : NULL;
    expect(constructed && *constructed, "the constructor's thread");
    return failures > 0;
}
