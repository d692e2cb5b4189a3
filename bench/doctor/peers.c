/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor_peers - the ranks of a node to each other. Each tries its next one, in a ring, so all
 * pairs of neighbours are seen. */
#define _GNU_SOURCE
#include "doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *const spaces[] = {"pid", "user", "net", "mnt"};
enum { PID_SPACE, USER_SPACE, NET_SPACE, MNT_SPACE, SPACES };

/* What a rank tells the others of its node. */
struct sheet {
    uint64_t spaces[SPACES]; /* namespaces, by their numbers */
    uint64_t cookie;
    const uint64_t *place; /* of the cookie, in that process */
    struct segment_name name;
    struct processors set;
    int32_t pid;
};

/* The number behind a name in a file of /proc; -1: there is none. */
static int number_in(const char *path, const char *name) {
    char line[256];
    int number = -1;
    FILE *file = fopen(path, "r");
    while (number < 0 && file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0) sscanf(line + strlen(name), "%d", &number);
    if (file) fclose(file);
    return number;
}

static int read_by_cma(const struct sheet *next) {
    uint64_t got = 0;
    struct iovec to = {&got, sizeof got}, from = {(void *)(uintptr_t)next->place, sizeof got};
    if (process_vm_readv(next->pid, &to, 1, &from, 1, 0) != sizeof got) return -errno;
    return got == next->cookie ? 0 : -ESRCH; /* the number of another process in my namespace */
}

static void look_at_cma(const struct sheet *mine, const struct sheet *next, struct findings *all) {
    int error = read_by_cma(next);
    int yama = number_in("/proc/sys/kernel/yama/ptrace_scope", "");
    const char *cure = "allow ptrace or process_vm_readv (--cap-add=SYS_PTRACE in Docker)",
               *why = strerror(-error);
    if (error == 0) {
        found(all, GREEN, "CMA between ranks", NULL, "yes");
        return;
    }
    if (mine->spaces[PID_SPACE] != next->spaces[PID_SPACE] ||
        mine->spaces[USER_SPACE] != next->spaces[USER_SPACE])
        why = "the ranks are in namespaces of their own",
        cure = "one container for all ranks of a node, with the launcher inside";
    else if (error == -EPERM && yama > 0)
        why = "Yama forbids it", cure = "as root: sysctl kernel.yama.ptrace_scope=0";
    else if (number_in("/proc/self/status", "Seccomp:") == 2) why = "a seccomp filter forbids it";
    found(all, YELLOW, "CMA between ranks", cure,
          "no, %s: buffers out of reach (threads' stacks) are copied twice", why);
}

static void look_at_memory(const struct sheet *next, struct findings *all) {
    if (!next->name.bytes) return; /* it has none */
    int fd = segment_open(&next->name, true);
    if (fd >= 0) {
        found(all, GREEN, "peers' memory", NULL, "ranks open it through /proc");
        close(fd);
    } else {
        found(all, GREEN, "peers' memory", NULL,
              "descriptors go over sockets, for /proc is closed (%s)", strerror(-fd));
    }
}

static void look_at_spaces(const struct sheet *sheets, int count, struct findings *all) {
    char text[64] = "";
    bool differ[SPACES] = {false};
    for (int s = 0; s < SPACES; s++) {
        for (int r = 1; r < count; r++) differ[s] |= sheets[r].spaces[s] != sheets[0].spaces[s];
        if (!differ[s]) continue;
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "", spaces[s]);
    }
    const char *cure = "one container for all ranks of a node, with the launcher inside";
    if (differ[PID_SPACE])
        found(all, YELLOW, "namespaces", cure,
              "%s: not the same on the ranks of this node: mortar takes them for several nodes",
              text);
    else if (differ[USER_SPACE] || differ[NET_SPACE])
        found(
            all, YELLOW, "namespaces", cure,
            "%s: not the same on the ranks of this node: some ways to each other's memory are closed",
            text);
    else found(all, GREEN, "namespaces", NULL, "the ranks of this node share them");
}

static void look_at_processors(const struct world *world, const struct sheet *sheets, int count,
                               int me, struct findings *all) {
    int mine = processors_count(&sheets[me].set), machine = machine_facts()->processors,
        like_me = 0;
    for (int r = 0; r < count; r++)
        like_me += memcmp(&sheets[r].set, &sheets[me].set, sizeof sheets[r].set) == 0;
    bool bound = mine < world->processors || (machine > 0 && mine < machine);
    if (bound && like_me > mine)
        found(all, YELLOW, "binding", "mpirun --bind-to core or none; srun --cpu-bind; more --cpus",
              "%d ranks share %d of the machine's %d processors, which they are bound to", like_me,
              mine, machine);
    else if (bound)
        found(all, GREEN, "binding", NULL, "to %d of the machine's %d processors", mine, machine);
    else found(all, GREEN, "binding", NULL, "none: a rank may run on all %d processors", mine);
    const char *cure = world->crowded ? world_cure(world) : NULL;
    if (cure)
        found(all, YELLOW, "processors", cure,
              "%d ranks on %d processors, and the MPI library spins while it waits", count,
              world->processors);
    else
        found(all, GREEN, "processors", NULL, "%d for %d rank%s%s", world->processors, count,
              plural(count),
              world->crowded ? ": too few, but the MPI library yields while it waits" : "");
}

void doctor_peers(const struct world *world, struct findings *all) {
    static uint64_t cookie;
    int count, me, fd = segment_create("mortar-doctor", 4096);
    char path[64];
    struct stat facts;
    MPI_Comm node;
    nodes_split(world->comm, false, &node);
    MPI_Comm_size(node, &count);
    MPI_Comm_rank(node, &me);
    cookie = draw((uint64_t)getpid(), (uint64_t)me);
    struct sheet mine = {
        .cookie = cookie, .place = &cookie, .set = machine_processors(), .pid = getpid()};
    if (fd >= 0) segment_name(fd, &mine.name);
    for (int s = 0; s < SPACES; s++) {
        snprintf(path, sizeof path, "/proc/self/ns/%s", spaces[s]);
        if (stat(path, &facts) == 0) mine.spaces[s] = facts.st_ino;
    }
    struct sheet *sheets = calloc((size_t)count, sizeof mine);
    int fine = sheets != NULL, all_fine;
    library.allreduce(&fine, &all_fine, 1, MPI_INT, MPI_MIN, node);
    if (all_fine) {
        library.allgather(&mine, (int)sizeof mine, MPI_BYTE, sheets, (int)sizeof mine, MPI_BYTE,
                          node);
        if (count > 1) look_at_cma(&mine, &sheets[(me + 1) % count], all);
        if (count > 1) look_at_memory(&sheets[(me + 1) % count], all);
        if (count > 1) look_at_spaces(sheets, count, all);
        look_at_processors(world, sheets, count, me, all);
        library.barrier(node); /* until all have read */
    }
    if (fd >= 0) close(fd);
    free(sheets);
    MPI_Comm_free(&node);
}
