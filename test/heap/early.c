/* SPDX-License-Identifier: BSD-3-Clause */
/* early - a library linked with -z initfirst: it allocates before libc has read the environment. */
#include <stdlib.h>

__attribute__((constructor)) static void allocate(void) {
    void *volatile block = malloc(100);
    free(block);
}
