/* SPDX-License-Identifier: BSD-3-Clause */
/* file - reads and writes what a user named: a file, a device, or a pipe that may have no other
 * end. The program must neither wait for it for ever nor die of it. */
#define _GNU_SOURCE
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double patience_seconds = 3; /* longest wait for a pipe, before each piece */

/* Waits until fd is ready: 0, -ETIMEDOUT or -errno. Signals do not prolong the wait. */
static int file_await(int fd, short events) {
    double end = clock_seconds() + patience_seconds;
    while (clock_seconds() < end) {
        struct pollfd ready = {.fd = fd, .events = events};
        int count = poll(&ready, 1, 100);
        if (count > 0) return 0;
        if (count < 0 && errno != EINTR) return -errno;
    }
    return -ETIMEDOUT;
}

int file_read(const char *path, size_t most, char **text, size_t *bytes) {
    int error = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return -errno;
    *bytes = 0;
    *text = malloc(most + 1);
    if (!*text) error = -ENOMEM;
    while (!error && *bytes < most && (error = file_await(fd, POLLIN)) == 0) {
        ssize_t got = read(fd, *text + *bytes, most - *bytes);
        if (got == 0) break;
        if (got > 0) *bytes += (size_t)got;
        else if (errno != EINTR && errno != EAGAIN) error = -errno;
    }
    close(fd);
    if (error) free(*text);
    return error;
}

int file_put(int fd, const char *text, size_t bytes) {
    int error = 0;
    sigset_t deadly, before, pending;
    sigemptyset(&deadly);
    sigaddset(&deadly, SIGPIPE); /* the reader has gone */
    sigaddset(&deadly, SIGXFSZ); /* ulimit -f */
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &deadly, &before);
    while (!error && bytes > 0) {
        ssize_t put = write(fd, text, bytes);
        if (put >= 0) {
            text += put;
            bytes -= (size_t)put;
        } else if (errno == EAGAIN) error = file_await(fd, POLLOUT);
        else if (errno != EINTR) error = -errno;
    }
    /* Discards the signal that this write has raised, but not one that was pending before. */
    const struct timespec now = {0};
    int raised = 0;
    if (error == -EPIPE) raised = SIGPIPE;
    if (error == -EFBIG) raised = SIGXFSZ;
    sigemptyset(&deadly);
    if (raised && !sigismember(&pending, raised) && sigaddset(&deadly, raised) == 0)
        while (sigtimedwait(&deadly, NULL, &now) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Waits until no other process of ours holds the file or folder, and no longer than so many
 * milliseconds, as strangers may lock it, too. */
static void file_lock(int fd, int most) {
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int k = 0; k < most && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; k++)
        nanosleep(&pause, NULL);
}

int file_write(const char *path, const char *text, size_t bytes) {
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd < 0) return -errno;
    struct stat what;
    file_lock(fd, 1000); /* of a job that another MPI's launcher started all write its report */
    int error =
        fstat(fd, &what) == 0 && S_ISREG(what.st_mode) && ftruncate(fd, 0) != 0 ? -errno : 0;
    if (!error) error = file_put(fd, text, bytes);
    if (close(fd) != 0 && !error) error = -errno;
    return error;
}

int file_place(const char *path, char place[PATH_MAX]) {
    struct stat there;
    if (stat(path, &there) == 0) {
        if (S_ISDIR(there.st_mode)) return -EISDIR;
        if (!S_ISREG(there.st_mode)) return -ENOTSUP;
        return realpath(path, place) ? 0 : -errno;
    }
    return snprintf(place, PATH_MAX, "%s", path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int file_hold(const char *path) {
    char place[PATH_MAX];
    if (file_place(path, place) != 0) return -1;
    int fd = open(dirname(place), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) file_lock(fd, 10000);
    return fd;
}

int file_replace(const char *path, const char *text, size_t bytes) {
    char place[PATH_MAX], beside[PATH_MAX];
    int error = file_place(path, place);
    if (error) return error;
    if (snprintf(beside, sizeof beside, "%s.%d.new", place, (int)getpid()) >= (int)sizeof beside)
        return -ENAMETOOLONG;
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return -errno;
    error = file_put(fd, text, bytes);
    if (!error && fsync(fd) != 0) error = -errno;
    if (close(fd) != 0 && !error) error = -errno;
    if (!error && rename(beside, place) != 0) error = -errno;
    if (error) unlink(beside);
    return error;
}

int file_print(void (*print)(FILE *out, const void *what), const void *what, char **text,
               size_t *bytes) {
    *text = NULL;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    FILE *out = plain ? open_memstream(text, bytes) : NULL;
    int error = out ? 0 : -ENOMEM;
    if (out) {
        locale_t before = uselocale(plain);
        print(out, what);
        uselocale(before);
        if (fclose(out) != 0) error = -ENOMEM;
    }
    if (plain) freelocale(plain);
    return error;
}

int output_end(const char *who, int code) {
    bool lost = ferror(stdout);
    if (fflush(stdout) == 0 && !lost) return code;
    fprintf(stderr, "%s: standard output has not got everything: %s\n", who,
            lost ? "it could not be written (is the disk full?)" : strerror(errno));
    return code ? code : 1;
}

const char *file_why(int error) {
    if (error == -ENXIO) return "it is a pipe that nobody reads, or a socket";
    if (error == -EPIPE) return "its reader has gone";
    if (error == -ETIMEDOUT) return "nobody is at work at the pipe's other end";
    if (error == -EFBIG) return "the limit on file size (ulimit -f) is below it";
    return strerror(-error);
}
