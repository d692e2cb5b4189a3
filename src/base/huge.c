/* SPDX-License-Identifier: BSD-3-Clause */
/* huge - whether memory that ranks share can be in huge pages. MADV_COLLAPSE (Linux 6.1) makes one
 * of shared memory at once, whatever shmem_enabled says. */
#define _GNU_SOURCE
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

bool huge_set(const char *which, const char *word) {
    char path[96] = "/sys/kernel/mm/transparent_hugepage/", text[128];
    strncat(path, which, sizeof path - strlen(path) - 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = 0;
    const char *at = strchr(text, '['); /* "always [madvise] never" */
    return at && strncmp(at + 1, word, strlen(word)) == 0 && at[1 + strlen(word)] == ']';
}

bool huge_wanted(void) {
    enum { huge_auto, huge_on, huge_off };
    static atomic_int known; /* 0: not yet, 1: wanted, 2: not */
    if (known == 0) {
        int choice = option_choice(OPTION_HUGE, "auto|on|off"), saved = errno;
        bool never = huge_set("enabled", "never");
        bool makes = madvise(NULL, 0, MADV_COLLAPSE) == 0; /* only asks whether it is known */
        errno = saved;
        known = makes && (choice == huge_on || (choice == huge_auto && !never)) ? 1 : 2;
    }
    return known == 1;
}

bool huge_lost(void) {
    static atomic_int known; /* 0: not yet, 1: lost, 2: not */
    if (known == 0) {
        int saved = errno;
        bool lost =
            !huge_wanted() && huge_set("enabled", "always") && !huge_set("shmem_enabled", "always");
        errno = saved;
        known = lost ? 1 : 2;
    }
    return known == 1;
}
