/* SPDX-License-Identifier: BSD-3-Clause */
/* huge - MADV_COLLAPSE (Linux 6.1) makes a huge page of shared memory at once, whatever
 * shmem_enabled says. To fill one takes less time than to fill 512 small pages. */
#define _GNU_SOURCE
#include "heap/huge.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static const size_t huge_page = 2 << 20;

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

bool huge_wanted(void) {
    enum { huge_auto, huge_on, huge_off };
    static atomic_int known; /* 0: not yet, 1: wanted, 2: not */
    if (known == 0) {
        int choice = option_choice(OPTION_HUGE, "auto|on|off"), saved = errno;
        bool never = chosen("/sys/kernel/mm/transparent_hugepage/enabled", "[never]");
        bool makes = madvise(NULL, 0, MADV_COLLAPSE) == 0; /* only asks whether it is known */
        errno = saved;
        known = makes && (choice == huge_on || (choice == huge_auto && !never)) ? 1 : 2;
    }
    return known == 1;
}

bool huge_make(char *page) {
    int saved = errno;
    bool fine = madvise(page, huge_page, MADV_COLLAPSE) == 0;
    errno = saved;
    return fine;
}

bool huge_lost(void) {
    static atomic_int known; /* 0: not yet, 1: lost, 2: not */
    if (known == 0) {
        int saved = errno;
        bool lost = !huge_wanted() &&
                    chosen("/sys/kernel/mm/transparent_hugepage/enabled", "[always]") &&
                    !chosen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "[always]");
        errno = saved;
        known = lost ? 1 : 2;
    }
    return known == 1;
}
