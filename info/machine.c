/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - what this machine offers to mortar, with the reason for what is missing. */
#define _GNU_SOURCE
#include "info/info.h"

#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

static void read_line(const char *path, char *text, int size) {
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, size, file)) snprintf(text, (size_t)size, "not available");
    text[strcspn(text, "\n")] = 0;
    if (file) fclose(file);
}

static void print_memory(void) {
    int error = 0, fd = segment_create("mortar-info", 1 << 20);
    struct segment_name name = {0};
    if (fd >= 0) error = segment_name(fd, &name);
    int again = fd < 0 || error ? -1 : segment_open(&name, true);
    printf("  %-18s %s\n", "memfd", fd >= 0 ? "yes" : strerror(-fd));
    printf("  %-18s %s\n", "/proc/PID/fd",
           again >= 0 ? "yes" : "no: descriptors are sent over sockets instead");
    if (again >= 0) close(again);
    if (fd >= 0) close(fd);
    struct rlimit limit;
    printf("  %-18s %s\n", "/proc/self/maps",
           access("/proc/self/maps", R_OK) == 0
               ? "yes"
               : "no: malloc's memory and static data cannot move into shared memory");
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        printf(
            "  %-18s %llu bytes (ulimit -v): a sixteenth of it is the most that a shared heap takes\n",
            "address space", (unsigned long long)limit.rlim_cur);
}

static void print_cma(void) {
    char from[8] = "cookie", to[8] = "";
    struct iovec source = {from, sizeof from}, target = {to, sizeof to};
    ssize_t got = process_vm_readv(getpid(), &target, 1, &source, 1, 0);
    if (got == sizeof from) printf("  %-18s yes\n", "CMA");
    else printf("  %-18s no: %s\n", "CMA", strerror(errno));
    printf("  %-18s %s\n", "XPMEM",
           access("/dev/xpmem", R_OK | W_OK) == 0
               ? "yes"
               : "no: /dev/xpmem is not there (kernel module xpmem)");
}

void print_machine(void) {
    char text[256];
    struct processors set = machine_processors();
    const struct machine_facts *facts = machine_facts();
    printf("This machine\n");
    printf("  %-18s %s\n", "model",
           *facts->cpu ? facts->cpu : "not known (is libhwloc.so.15 installed?)");
    printf("  %-18s %d, for this process %d\n", "processors", facts->processors,
           processors_count(&set));
    printf("  %-18s %zu KiB L1d, %zu KiB L2, %zu KiB L3\n", "caches", facts->l1d >> 10,
           facts->l2 >> 10, facts->l3 >> 10);
    if (launcher_local_ranks() > 0)
        printf("  %-18s %d\n", "ranks on this node", launcher_local_ranks());
    printf("  %-18s %d NUMA, %d sockets, %d L3\n", "domains", facts->numa, facts->sockets,
           facts->l3s);
    static const char *const kinds[] = {"NUMA node", "socket", "L3 cache",
                                        "none: all ranks share one"};
    printf("  %-18s %s\n", "  memory domain", kinds[machine_domain_kind()]);
    print_memory();
    print_cma();
    read_line("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text);
    printf("  %-18s %s\n", "huge pages", text);
    read_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled", text, sizeof text);
    printf("  %-18s %s\n", "  in shared memory", text);
}
