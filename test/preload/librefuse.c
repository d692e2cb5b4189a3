/* SPDX-License-Identifier: BSD-3-Clause */
/* librefuse - a system that makes no memfd. */
#include <errno.h>

int memfd_create(const char *name, unsigned flags);

int memfd_create(const char *name, unsigned flags) {
    (void)name, (void)flags;
    errno = EPERM;
    return -1;
}
