/* SPDX-License-Identifier: BSD-3-Clause */
/* huge - makes huge pages of shared memory. To fill one takes less time than to fill 512 small
 * pages. */
#define _GNU_SOURCE
#include "heap/huge.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

bool huge_make(char *page) {
    int saved = errno;
    bool fine = madvise(page, huge_page, MADV_COLLAPSE) == 0;
    errno = saved;
    return fine;
}
