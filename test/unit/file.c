/* SPDX-License-Identifier: BSD-3-Clause */
/* file - what a user named is read and written whatever it is, and nobody waits for ever or dies:
 * files, full devices, pipes without a reader or writer, with one that comes late, is slow, leaves
 * or does nothing, and the limit on file size. */
#define _GNU_SOURCE
#include "base/base.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { length = 1 << 20 };
static char text[length], path[256], fifo[256];

static void expect_text(const char *where, size_t bytes) {
    char *found;
    size_t count;
    int error = file_read(where, length + 1, &found, &count);
    expect(error == 0, "file_read: %s", file_why(error));
    expect(count == bytes && memcmp(found, text, bytes) == 0, "%zu bytes instead of %zu, or others",
           count, bytes);
    free(found);
}

static void files(void) {
    char *found;
    size_t count;
    expect(file_write(path, text, length) == 0 && file_write(path, text, 1000) == 0, "a file");
    expect_text(path, 1000);
    expect(file_read(path, 10, &found, &count) == 0 && count == 10, "%zu bytes instead of 10",
           count);
    free(found);
    expect(file_read("/nonexistent", 10, &found, &count) == -ENOENT, "no file");
    expect(file_write("/nonexistent/file", text, 1) == -ENOENT, "no folder");
    expect(file_read("/", 10, &found, &count) == -EISDIR && file_write("/", text, 1) == -EISDIR,
           "a folder");
    expect(file_write("/dev/null", text, length) == 0, "/dev/null");
    if (access("/dev/full", W_OK) == 0)
        expect(file_write("/dev/full", text, 10) == -ENOSPC, "/dev/full");
}

static int blocked(int number) {
    sigset_t mask, pending;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    return sigismember(&mask, number) + 2 * sigismember(&pending, number);
}

static void limited(void) {
    struct rlimit limit, small;
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 5000;
    setrlimit(RLIMIT_FSIZE, &small);
    int error = file_write(path, text, length);
    setrlimit(RLIMIT_FSIZE, &limit);
    expect(error == -EFBIG && blocked(SIGXFSZ) == 0, "over the limit on file size: %s, %d",
           file_why(error), blocked(SIGXFSZ));
}

static void *write_ten(void *nothing) {
    (void)nothing;
    expect(file_write(path, text, 10) == 0, "a file that another writes");
    return NULL;
}

/* While another process writes the file it is left alone, for at most a second. */
static void another_writer(void) {
    pthread_t thread;
    expect(file_write(path, text, 1000) == 0, "a file");
    int fd = open(path, O_WRONLY);
    double start = clock_seconds();
    expect(fd >= 0 && flock(fd, LOCK_EX) == 0, "flock");
    expect(pthread_create(&thread, NULL, write_ten, NULL) == 0, "a thread");
    usleep(200000);
    struct stat what;
    expect(fstat(fd, &what) == 0, "fstat");
    expect(what.st_size == 1000 || clock_seconds() - start > 0.9, "it has not waited");
    expect(flock(fd, LOCK_UN) == 0, "flock");
    pthread_join(thread, NULL);
    expect_text(path, 10);
    expect(flock(fd, LOCK_EX) == 0 && file_write(path, text, 20) == 0, "a lock that stays");
    expect_text(path, 20);
    close(fd);
}

static void *read_slowly(void *nothing) {
    (void)nothing;
    int fd = open(fifo, O_RDONLY);
    size_t count = 0;
    char piece[9000];
    for (ssize_t got; (got = read(fd, piece, sizeof piece)) > 0; count += (size_t)got) {
        if (memcmp(piece, text + count, (size_t)got) != 0) break;
        usleep(100);
    }
    close(fd);
    return (void *)(uintptr_t)count;
}

static void *write_late(void *nothing) {
    (void)nothing;
    int fd = open(fifo, O_WRONLY); /* waits for the reader */
    usleep(50000);
    file_put(fd, text, 5000);
    usleep(50000);
    file_put(fd, text + 5000, length - 5000);
    close(fd);
    return NULL;
}

static void *read_nothing(void *nothing) {
    (void)nothing;
    char *found;
    size_t count;
    expect(file_read(fifo, 10, &found, &count) == -ETIMEDOUT, "a pipe that nobody writes to");
    return NULL;
}

static void pipes(void) {
    pthread_t thread;
    void *count;
    expect(file_write(fifo, text, 10) == -ENXIO, "a pipe that nobody reads");
    pthread_create(&thread, NULL, read_slowly, NULL);
    int error;
    while ((error = file_write(fifo, text, length)) == -ENXIO) usleep(1000);
    pthread_join(thread, &count);
    expect(error == 0 && (uintptr_t)count == length, "a slow reader: %s, %zu bytes",
           file_why(error), (size_t)(uintptr_t)count);

    pthread_create(&thread, NULL, write_late, NULL);
    expect_text(fifo, length);
    pthread_join(thread, NULL);

    int ends[2];
    char name[64];
    expect(pipe2(ends, O_CLOEXEC) == 0, "pipe");
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    expect(file_write(name, text, 1000) == 0, "a pipe by its descriptor");
    pthread_create(&thread, NULL, read_nothing, NULL);
    error = file_write(name, text, length);
    expect(error == -ETIMEDOUT, "a reader that does nothing: %s", file_why(error));
    pthread_join(thread, NULL);
    close(ends[0]);
    error = file_put(ends[1], text, 10);
    expect(error == -EPIPE && blocked(SIGPIPE) == 0, "a reader that has gone: %s, %d",
           file_why(error), blocked(SIGPIPE));
    close(ends[1]);
}

static void print(FILE *out, const void *what) { fprintf(out, "%s %.1f", (const char *)what, 1.5); }

int main(void) {
    char *printed;
    size_t bytes;
    for (int i = 0; i < length; i++) text[i] = (char)(i * 7 + i / 256);
    snprintf(path, sizeof path, "unit-file-%d", (int)getpid());
    snprintf(fifo, sizeof fifo, "unit-fifo-%d", (int)getpid());
    expect(mkfifo(fifo, 0600) == 0, "mkfifo");
    files();
    limited();
    another_writer();
    pipes();
    unlink(path);
    unlink(fifo);
    expect(file_print(print, "text", &printed, &bytes) == 0 && bytes == 8 &&
               strcmp(printed, "text 1.5") == 0,
           "file_print");
    free(printed);
    return 0;
}
