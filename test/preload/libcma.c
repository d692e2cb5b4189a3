/* SPDX-License-Identifier: BSD-3-Clause */
/* libcma - preloaded: process_vm_readv as it may be on another machine or another day. Only
 * mortar's calls are meant, not the MPI library's own. TEST_CMA_MOST: moves at most so many bytes a
 * call (Linux: 0x7ffff000). TEST_CMA_CALLS on rank TEST_CMA_RANK: permission is lost after so many
 * calls. TEST_CMA_FOREIGN on that rank: the numbers of its peers mean other processes. Says in the
 * end how many there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic long calls, refused;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static long rank_of_this(void) { return number("OMPI_COMM_WORLD_RANK", number("PMI_RANK", 0)); }

static int by_mortar(const void *caller) {
    Dl_info where;
    return dladdr(caller, &where) && where.dli_fname &&
           (strstr(where.dli_fname, "libmortar-") || strstr(where.dli_fname, "mortar-bench-"));
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_count,
                         const struct iovec *from, unsigned long from_count, unsigned long flags) {
    struct iovec cut[1024];
    if (by_mortar(__builtin_return_address(0)) && to_count <= 1024) {
        long most = number("TEST_CMA_MOST", 0x7ffff000), fine = number("TEST_CMA_CALLS", -1);
        long call = atomic_fetch_add(&calls, 1);
        if (fine >= 0 && call >= fine && rank_of_this() == number("TEST_CMA_RANK", 0)) {
            atomic_fetch_add(&refused, 1);
            errno = EPERM;
            return -1;
        }
        if (number("TEST_CMA_FOREIGN", 0) && rank_of_this() == number("TEST_CMA_RANK", 0)) {
            memset(to[0].iov_base, 0x5a, to[0].iov_len);
            return (ssize_t)to[0].iov_len;
        }
        unsigned long count = 0;
        for (; count < to_count && most > 0; count++) {
            cut[count] = to[count];
            if ((long)cut[count].iov_len > most) cut[count].iov_len = (size_t)most;
            most -= (long)cut[count].iov_len;
        }
        to = cut;
        to_count = count;
    }
    return syscall(SYS_process_vm_readv, pid, to, to_count, from, from_count, flags);
}

__attribute__((destructor)) static void say(void) {
    if (calls > 0) printf("rank %ld: %ld reads, %ld refused\n", rank_of_this(), calls, refused);
}
