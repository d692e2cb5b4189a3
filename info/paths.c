/* SPDX-License-Identifier: BSD-3-Clause */
/* paths - could a data path work on this machine? */
#define _GNU_SOURCE
#include "info/info.h"

#include "base/base.h"
#include "reach/reach.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

bool path_here(int path) {
    uint64_t from = 1, to = 0;
    struct iovec there = {&from, sizeof from}, here = {&to, sizeof to};
    if (path == PATH_cma) return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof to;
    if (path != PATH_xpmem || strcmp(option_text(OPTION_XPMEM), "off") == 0)
        return path != PATH_xpmem;
    /* Another library than the usual one, as in tests, needs no kernel module. */
    bool named = strcmp(option_text(OPTION_XPMEM), option_rows[OPTION_XPMEM].value) != 0;
    return named || access("/dev/xpmem", R_OK | W_OK) == 0;
}
