/* SPDX-License-Identifier: BSD-3-Clause */
/* arrives - whether the program's calls of malloc arrive at ours. An executable may define malloc,
 * calloc, realloc and free, on the C library's own (__libc_malloc), say, to count its blocks; the
 * GNU C library asks for no more. The rest of the family is the C library's then, without mortar,
 * and its free knows no other blocks. */
#define _GNU_SOURCE
#include "heap/blocks.h"
#include "heap/jemalloc.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Calls malloc and looks whether it takes that from the region. The executable's malloc may well
 * call on, and arrive all the same; or it may call memalign, and come here meanwhile. volatile: the
 * compiler believes the C library's headers, that malloc calls nothing in this file. */
bool arrives(void) {
    enum { unknown, here, elsewhere };
    static atomic_int known;
    static __thread volatile bool tries;
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer != unknown || tries) return answer == here;
    tries = true;
    void *volatile block = malloc(long_block);
    answer = blocks_own(block) ? here : elsewhere;
    free(block);
    tries = false;
    atomic_store_explicit(&known, answer, memory_order_relaxed);
    return answer == here;
}
