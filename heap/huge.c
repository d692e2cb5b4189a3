/* SPDX-License-Identifier: BSD-3-Clause */
/* huge - MADV_HUGEPAGE. The kernel honours it for shared memory only if shmem_enabled says so. */
#define _GNU_SOURCE
#include "heap/huge.h"

#include "base/base.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Would the kernel refuse? To make huge pages by MADV_COLLAPSE instead means to clear and commit
 * each large block when it is allocated, whether the program uses it or not. */
static bool refused(void) {
    static const char shared[] = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
    static bool told;
    bool never = chosen(shared, "[never]") || chosen(shared, "[deny]");
    if (never && !told)
        warn_job("MORTAR_HUGE=on has no effect: the kernel gives no huge pages for shared memory"
                 " until %s says \"advise\"",
                 shared);
    told = told || never;
    return never;
}

void huge_begin(void *base, size_t bytes) {
    enum { huge_auto, huge_on, huge_off };
    int choice = option_choice(OPTION_HUGE, "auto|on|off");
    if (choice == huge_off || (choice == huge_on && refused()) ||
        (choice == huge_auto && !chosen("/sys/kernel/mm/transparent_hugepage/enabled", "[always]")))
        return;
    madvise(base, bytes, MADV_HUGEPAGE);
}
