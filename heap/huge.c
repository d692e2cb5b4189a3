/* SPDX-License-Identifier: BSD-3-Clause */
/* huge - MADV_HUGEPAGE if the system honours it for shared memory (shmem_enabled). Otherwise one
 * touch per huge page and MADV_COLLAPSE (Linux 6.1), which needs no setting but commits memory that
 * the program may never use: so only if MORTAR_HUGE=on. */
#define _GNU_SOURCE
#include "heap/huge.h"

#include "base/base.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static const size_t huge_page = 2 << 20;
static atomic_bool collapsing;

/* True: this word is in the file, such as "[madvise]" in "always [madvise] never". */
static bool chosen(const char *file, const char *word) {
    char text[128];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = 0;
    return strstr(text, word) != NULL;
}

void huge_begin(void *base, size_t bytes) {
    enum { huge_auto, huge_on, huge_off };
    int choice = option_choice(OPTION_HUGE, "auto|on|off");
    if (choice == huge_off ||
        (choice == huge_auto && !chosen("/sys/kernel/mm/transparent_hugepage/enabled", "[always]")))
        return;
    madvise(base, bytes, MADV_HUGEPAGE);
    collapsing =
        choice == huge_on && chosen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "[never]");
}

void huge_take(char *address, size_t bytes) {
    if (!collapsing || bytes < huge_page) return; /* larger blocks are aligned to huge pages */
    bytes &= ~(huge_page - 1);
    /* Untouched pages do not collapse. */
    for (size_t i = 0; i < bytes; i += huge_page) ((volatile char *)address)[i] = 0;
    /* It fails on an older kernel, or if no huge page is left. */
    if (madvise(address, bytes, MADV_COLLAPSE) != 0) collapsing = false;
}
