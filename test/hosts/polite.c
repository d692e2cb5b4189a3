/* SPDX-License-Identifier: BSD-3-Clause */
/* polite - preloaded on the rig, where ranks outnumber processors and talk over TCP. Two things
 * that MPI libraries do not do there:
 *
 * Whoever looks for messages again and again (UCX, libfabric, Open MPI 5's libevent) gives the
 * processor away when there are none. 16 ranks on 2 processors, 8 bytes, alltoall, MPICH 4.0: 120
 * to 190 ms without, 0.5 ms with it.
 *
 * Whoever waits for the launcher drives UCX. In MPI_Finalize a rank of MPICH 4.0 closes its
 * connections, which takes an answer of each peer, and then waits in a barrier of the launcher,
 * where it answers nobody: most runs on two hosts would never end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))

static void *worker; /* of UCX, the last that was made */
static unsigned (*progress)(void *worker);

VISIBLE int epoll_wait(int fd, struct epoll_event *events, int most, int timeout) {
    static int (*original)(int, struct epoll_event *, int, int);
    if (!original)
        original = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
    int found = original(fd, events, most, timeout);
    if (found == 0 && timeout == 0) sched_yield();
    return found;
}

static int look(struct pollfd *files, nfds_t count, int timeout) {
    static int (*original)(struct pollfd *, nfds_t, int);
    if (!original) original = (int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
    return original(files, count, timeout);
}

VISIBLE int poll(struct pollfd *files, nfds_t count, int timeout) {
    int found = look(files, count, timeout);
    if (found == 0 && timeout == 0) sched_yield();
    return found;
}

/* From ucp/api/ucp.h, which need not be here; its status is an enumeration of one byte. */
signed char ucp_worker_create(void *context, const void *settings, void **made);
void ucp_worker_destroy(void *old);

VISIBLE signed char ucp_worker_create(void *context, const void *settings, void **made) {
    signed char (*original)(void *, const void *, void **) =
        (signed char (*)(void *, const void *, void **))dlsym(RTLD_NEXT, "ucp_worker_create");
    signed char status = original(context, settings, made);
    progress = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (status == 0 && progress) worker = *made;
    return status;
}

VISIBLE void ucp_worker_destroy(void *old) {
    void (*original)(void *) = (void (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_destroy");
    if (old == worker) worker = NULL;
    original(old);
}

VISIBLE ssize_t read(int fd, void *memory, size_t bytes) {
    static ssize_t (*original)(int, void *, size_t);
    if (!original) original = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    const char *launcher = worker ? getenv("PMI_FD") : NULL;
    if (launcher && atoi(launcher) == fd) {
        struct pollfd file = {.fd = fd, .events = POLLIN};
        while (worker && look(&file, 1, 0) == 0) {
            progress(worker);
            sched_yield();
        }
    }
    return original(fd, memory, bytes);
}
