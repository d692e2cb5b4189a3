/* SPDX-License-Identifier: BSD-3-Clause */
/* old_kernel PROGRAM [ARGUMENT...] - runs a program as on Linux 4.18: requests that came later fail
 * as they fail there, by a filter that the program and its children inherit. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    later_advice = 20, /* from MADV_COLD on; POPULATE_READ, POPULATE_WRITE, COLLAPSE */
    later_remap = 4,   /* MREMAP_DONTUNMAP */
    later_memfd = 8,   /* from MFD_NOEXEC_SEAL on */
    later_call = 424   /* from pidfd_send_signal on; io_uring, clone3, close_range, ... */
};

#define LOAD(field)                                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
/* Else the next so many instructions are skipped. */
#define IF(compared, value, skipped) BPF_JUMP(BPF_JMP | compared | BPF_K, value, 0, skipped)
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Refuses a call if its argument compares so with a value. */
#define REFUSE_IF(call, argument, compared, value)                                                 \
    LOAD(nr), IF(BPF_JEQ, call, 3), LOAD(args[argument]), IF(compared, value, 1), REFUSE(EINVAL)

static struct sock_filter filter[] = {
    REFUSE_IF(SYS_madvise, 2, BPF_JGE, later_advice),
    REFUSE_IF(SYS_mremap, 3, BPF_JSET, later_remap),
    REFUSE_IF(SYS_memfd_create, 1, BPF_JGE, later_memfd),
    LOAD(nr),
    IF(BPF_JGE, later_call, 1),
    REFUSE(ENOSYS),
    ALLOW,
};

int main(int argc, char **argv) {
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (argc < 2) return 2;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        printf("the system does not allow a filter of system calls\n");
        return 77;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
