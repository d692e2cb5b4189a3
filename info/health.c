/* SPDX-License-Identifier: BSD-3-Clause */
/* health - what the system gives to one process: memory, limits, the kernel's copying, huge pages,
 * the C library. */
#define _GNU_SOURCE
#include "info/health.h"

#include "base/base.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

void found(struct findings *all, enum colour colour, const char *name, const char *cure,
           const char *format, ...) {
    if (all->count == most_findings) return;
    struct finding *one = &all->list[all->count++];
    *one = (struct finding){.colour = colour};
    snprintf(one->name, sizeof one->name, "%s", name);
    snprintf(one->cure, sizeof one->cure, "%s", cure ? cure : "");
    va_list list;
    va_start(list, format);
    vsnprintf(one->text, sizeof one->text, format, list);
    va_end(list);
}

/* The first line of a file; empty: it cannot be read. */
static char *line_of(const char *path, char *text, int size) {
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, size, file)) *text = 0;
    text[strcspn(text, "\n")] = 0;
    if (file) fclose(file);
    return text;
}

static void look_at_memory(struct findings *all) {
    int error = 0, fd = segment_create("mortar-info", 1 << 20);
    struct segment_name name = {0};
    if (fd >= 0) error = segment_name(fd, &name);
    int again = fd < 0 || error ? -1 : segment_open(&name, true);
    if (fd == -EFBIG)
        found(all, RED, "memfd", "raise the limit on file size (ulimit -f unlimited)",
              "the limit on file size forbids shared memory");
    else if (fd < 0)
        found(all, RED, "memfd",
              "allow memfd_create in the seccomp profile of the container or batch system",
              "memfd_create is refused (%s): ranks cannot share memory", strerror(-fd));
    else found(all, GREEN, "memfd", NULL, "yes");
    found(all, GREEN, "/proc/PID/fd", NULL, "%s",
          again >= 0 ? "yes" : "no: descriptors are sent over sockets instead");
    if (again >= 0) close(again);
    if (fd >= 0) close(fd);
    if (access("/proc/self/maps", R_OK) == 0) found(all, GREEN, "/proc/self/maps", NULL, "yes");
    else
        found(all, YELLOW, "/proc/self/maps", "mount /proc in the container",
              "no: malloc's memory and static data cannot move into shared memory");
}

/* The soft limit in words. `unit` is what one of it is called, `scale` how many of it are one. */
static const char *limit_text(rlim_t limit, rlim_t scale, const char *unit, char text[48]) {
    if (limit == RLIM_INFINITY) return "unlimited";
    snprintf(text, 48, "%llu%s", (unsigned long long)(limit / scale), unit);
    return text;
}

static void look_at_limits(struct findings *all) {
    char text[48];
    struct rlimit space = {RLIM_INFINITY, 0}, locked = space, files = space, size = space;
    getrlimit(RLIMIT_AS, &space);
    getrlimit(RLIMIT_MEMLOCK, &locked);
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_FSIZE, &size);
    uint64_t heap = option_number(OPTION_HEAP_BYTES);
    bool little = space.rlim_cur != RLIM_INFINITY && space.rlim_cur / 16 < heap;
    const char *shown = limit_text(space.rlim_cur, 1 << 20, " MiB", text);
    if (little)
        found(all, YELLOW, "ulimit -v",
              "raise it (SGE: h_vmem, PBS: vmem), or pay with a smaller shared heap",
              "%s of address space: a sixteenth of it is the most that a shared heap takes", shown);
    else found(all, GREEN, "ulimit -v", NULL, "%s", shown);
    bool network = access("/sys/class/infiniband", F_OK) == 0;
    bool locks = locked.rlim_cur == RLIM_INFINITY || locked.rlim_cur >= machine_memory() / 4;
    found(all, network && !locks ? YELLOW : GREEN, "ulimit -l",
          network && !locks ? "ulimit -l unlimited, for the MPI library's network" : NULL, "%s%s",
          limit_text(locked.rlim_cur, 1 << 10, " KiB", text),
          network && !locks ? ": the MPI library cannot register much memory with InfiniBand"
                            : " (mortar locks no memory)");
    bool few = files.rlim_cur < 256;
    found(all, few ? YELLOW : GREEN, "ulimit -n", few ? "ulimit -n 1024 or more" : NULL, "%s%s",
          limit_text(files.rlim_cur, 1, "", text),
          few ? ": the MPI library or mortar may run out of descriptors" : "");
    if (size.rlim_cur < heap)
        found(all, YELLOW, "ulimit -f", "ulimit -f unlimited",
              "%s: shared memory counts as a file, so malloc's memory cannot be shared",
              limit_text(size.rlim_cur, 1 << 20, " MiB", text));
}

int health_cma(void) {
    char from[8] = "cookie", to[8] = "";
    struct iovec source = {from, sizeof from}, target = {to, sizeof to};
    ssize_t got = process_vm_readv(getpid(), &target, 1, &source, 1, 0);
    return got == sizeof from ? 0 : got < 0 ? -errno : -EFAULT;
}

int health_xpmem(void) {
    const char *library = option_text(OPTION_XPMEM);
    if (strcmp(library, "off") == 0) return -ECANCELED;
    /* Another library than the usual one, as in tests, needs no kernel module. */
    if (strcmp(library, option_rows[OPTION_XPMEM].value) != 0) return 0;
    return access("/dev/xpmem", R_OK | W_OK) == 0 ? 0 : -errno;
}

static void look_at_copying(struct findings *all) {
    int cma = health_cma(), xpmem = health_xpmem();
    if (cma == 0) found(all, GREEN, "CMA", NULL, "yes");
    else
        found(all, YELLOW, "CMA", "allow process_vm_readv in the seccomp profile",
              "no (%s): buffers out of reach (threads' stacks) are copied twice", strerror(-cma));
    found(all, GREEN, "XPMEM", NULL, "%s",
          xpmem == 0            ? "yes"
          : xpmem == -ECANCELED ? "switched off by MORTAR_XPMEM"
          : xpmem == -ENOENT    ? "no: /dev/xpmem is not there (kernel module xpmem); not needed"
                                : "no: /dev/xpmem may not be used; not needed");
}

static void look_at_huge_pages(struct findings *all) {
    char own[96], shared[96];
    line_of("/sys/kernel/mm/transparent_hugepage/enabled", own, sizeof own);
    line_of("/sys/kernel/mm/transparent_hugepage/shmem_enabled", shared, sizeof shared);
    const char *what = "not lost";
    enum colour colour = GREEN;
    if (!*own || huge_set("enabled", "never")) what = "none in this system, so nothing is lost";
    else if (huge_wanted()) what = "kept by memory that is shared";
    else if (huge_lost()) what = "lost by memory that is shared, so less of it is", colour = YELLOW;
    else if (!huge_set("shmem_enabled", "always"))
        what = "lost where the program has asked for them and shares the memory", colour = YELLOW;
    const char *cure = strcmp(option_text(OPTION_HUGE), "off") == 0
                           ? "MORTAR_HUGE=auto"
                           : "Linux 6.1 or later; or, as root, write always into "
                             "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
    found(all, colour, "huge pages", colour == GREEN ? NULL : cure,
          "%s (private memory: %s; shared memory: %s)", what, *own ? own : "not known",
          *shared ? shared : "not known");
}

void health_program(struct findings *all, const char *path) {
    struct program_facts facts = program_look(path);
    const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct stat status;
    char why[2 * sizeof facts.reader];
    int error = access(path, X_OK) != 0 || stat(path, &status) != 0 ? errno
                : S_ISDIR(status.st_mode)                           ? EISDIR
                                                                    : 0;
    if (error)
        found(all, RED, "program", "name a program that all ranks can start",
              "%s cannot be started: %s", path, strerror(error));
    else if (program_lacks_reader(&facts, path, why, sizeof why))
        found(all, RED, "program", "mend the script's first line", "%s cannot be started: %s", path,
              why);
    else if (facts.kind == PROGRAM_STATIC)
        found(all, RED, "program", "link it dynamically (mpicc does)",
              "%s is statically linked: its calls cannot be taken", file);
    else if (facts.kind == PROGRAM_RAISED)
        found(all, RED, "program", "a copy of it without them",
              "%s is setuid, or has capabilities: nothing is preloaded into it", file);
    else if (facts.kind == PROGRAM_STRANGE)
        found(all, RED, "program", "use a container or a build with the GNU C library",
              "%s is for another %s%s: its calls cannot be taken", file,
              *facts.interpreter ? "C library, by its dynamic linker " : "kind of processor",
              facts.interpreter);
    else if (facts.sanitizer)
        found(all, YELLOW, "program", "measure a build without it",
              "%s was built with %s: it runs without the shared heap", file, facts.sanitizer);
    else if (facts.allocator && !getenv("MORTAR_HEAP"))
        found(all, YELLOW, "program", "--heap on, if it calls nothing but malloc and its family",
              "%s is linked with %s, and keeps that one's malloc", file, facts.allocator);
    else
        found(all, GREEN, "program", NULL, "%s: %s%s", file,
              *facts.interpreter ? "its dynamic linker is " : "a script, or not an ELF file",
              facts.interpreter);
}

void health_look(struct findings *all) {
    look_at_memory(all);
    look_at_limits(all);
    look_at_copying(all);
    look_at_huge_pages(all);
    found(all, GREEN, "glibc", NULL, "%s", gnu_get_libc_version());
}
