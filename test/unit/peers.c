/* SPDX-License-Identifier: BSD-3-Clause */
/* peers - other processes' regions in this one: mapped once however many teams ask, gone with the
 * last, read-only and writable apart; regions of real child processes, many of them, and many
 * threads at once. */
#define _GNU_SOURCE
#include "crew.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { bytes = 65536, children = 3, many = 300 };

/* A child with a region of its own that waits for a letter, as long as its parent lives. */
struct child {
    pid_t pid;
    int letters;
    struct segment_name name;
};

static void live(int number, int names, int letters) {
    int error = 0, fd = segment_create("unit-region", bytes);
    char *region = fd < 0 ? NULL : segment_map(fd, bytes, true, &error), letter;
    struct segment_name name;
    if (!region || segment_name(fd, &name) != 0) _exit(2);
    memset(region, 'a' + number, bytes);
    if (write(names, &name, sizeof name) != sizeof name) _exit(3);
    while (read(letters, &letter, 1) == 1)
        /* The parent has written there before it sent the letter. */
        if (region[1] != letter || region[0] != 'a' + number) _exit(4);
    _exit(0);
}

static struct child start(int number) {
    struct child child;
    int names[2], letters[2];
    expect(pipe(names) == 0 && pipe(letters) == 0, "pipe");
    child.pid = fork();
    expect(child.pid >= 0, "fork");
    if (child.pid == 0) {
        close(letters[1]);
        live(number, names[1], letters[0]);
    }
    close(letters[0]);
    close(names[1]);
    expect(read(names[0], &child.name, sizeof child.name) == sizeof child.name,
           "child %d does not say its name", number);
    close(names[0]);
    child.letters = letters[1];
    return child;
}

static uintptr_t mapped(const struct segment_name *name, int fd, bool writable) {
    uintptr_t base = 0;
    int error = peer_map(name, fd, writable, &base);
    expect(error == 0 && base, "peer_map: %d", error);
    return base;
}

static void is_mapped(uintptr_t base, const char *access) {
    char line[512];
    bool found = mapping_of(base, line, sizeof line) && strstr(line, "unit-region");
    expect(found == (access != NULL), "a peer's region is %smapped", found ? "still " : "not ");
    expect(!access || strstr(line, access), "expected access %s: %s", access, line);
}

static void real_children(void) {
    struct child child[children];
    uintptr_t reader[children], writer[children];
    for (int c = 0; c < children; c++) child[c] = start(c);
    for (int c = 0; c < children; c++) {
        reader[c] = mapped(&child[c].name, -1, false);
        writer[c] = mapped(&child[c].name, -1, true);
        expect(reader[c] != writer[c], "one mapping for reading and for writing");
        expect(mapped(&child[c].name, -1, false) == reader[c] &&
                   mapped(&child[c].name, -1, true) == writer[c],
               "mapped twice");
        is_mapped(reader[c], " r--s ");
        is_mapped(writer[c], " rw-s ");
        const char *seen = (const char *)reader[c];
        expect(seen[0] == 'a' + c && seen[bytes - 1] == 'a' + c, "not the memory of child %d", c);
        ((char *)writer[c])[1] = (char)('A' + c);
        expect(seen[1] == 'A' + c && write(child[c].letters, seen + 1, 1) == 1,
               "a letter to child %d", c);
    }
    expect(mappings_named("unit-region") == 2 * children, "%d mappings",
           mappings_named("unit-region"));
    for (int c = 0; c < children; c++) close(child[c].letters);
    for (int c = 0; c < children; c++) {
        int status;
        expect(waitpid(child[c].pid, &status, 0) == child[c].pid && status == 0,
               "child %d: status %x", c, (unsigned)status);
        /* The region outlives its process; known names go on, unknown ones cannot be opened. */
        expect(((const char *)reader[c])[1] == 'A' + c &&
                   mapped(&child[c].name, -1, false) == reader[c],
               "a dead child's region");
        peer_unmap(&child[c].name, true);
        is_mapped(writer[c], " rw-s ");
        peer_unmap(&child[c].name, true);
        is_mapped(writer[c], NULL);
        for (int i = 0; i < 3; i++)
            is_mapped(reader[c], " r--s "), peer_unmap(&child[c].name, false);
        is_mapped(reader[c], NULL);
        uintptr_t base = 77;
        expect(peer_map(&child[c].name, -1, false, &base) == -ENOENT && base == 77,
               "a dead child's region was opened again");
    }
    expect(mappings_named("unit-region") == 0, "mappings stay behind");
}

/* Descriptors that came over a socket: the caller keeps his; numbers of open files do not grow. */
static void by_descriptor(void) {
    int fd = segment_create("unit-region", bytes);
    struct segment_name name;
    expect(fd >= 0 && segment_name(fd, &name) == 0, "segment_create");
    struct segment_name far = name;
    far.pid = 0x7ffffff0; /* what another PID namespace would say: /proc does not know it */
    int before = dup(0);
    uintptr_t base = mapped(&far, fd, true);
    expect(mapped(&far, fd, true) == base && mapped(&far, -1, true) == base, "mapped twice");
    expect(mapped(&name, -1, true) != base, "two processes' names for one mapping");
    *(char *)base = 'x';
    expect(fcntl(fd, F_GETFD) >= 0, "peer_map closed the caller's descriptor");
    int after = dup(0);
    expect(after == before + 1, "peer_map leaves descriptors open");
    uintptr_t none = 0;
    struct segment_name stale = name;
    stale.inode += 256; /* the same place in the table */
    expect(peer_map(&stale, -1, true, &none) == -ESTALE && none == 0, "a stale name was mapped");
    for (int i = 0; i < 3; i++) peer_unmap(&far, true);
    is_mapped(base, NULL);
    peer_unmap(&far, true); /* once too often: nothing happens */
    peer_unmap(&name, true);
    expect(mappings_named("unit-region") == 0, "mappings stay behind");
    close(before);
    close(after);
    close(fd);
}

static size_t resident_shared(void) {
    char line[256];
    size_t kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "RssShmem: %zu", &kilobytes);
    if (file) fclose(file);
    return kilobytes << 10;
}

/* Pages of peers count as resident here, until they are too many; the data stay. */
static void forgotten(void) {
    enum { page = 4096, MiB = 1 << 20, few = 40 * MiB, much = 160 * MiB };
    struct segment_name name;
    int fd = segment_create("unit-region", much);
    expect(fd >= 0 && segment_name(fd, &name) == 0, "segment_create");
    char *base = (char *)mapped(&name, -1, true);
    size_t before = resident_shared();
    for (size_t at = 0; at < few; at += page) base[at] = (char)(at / page % 100);
    peers_count(64 * MiB);
    expect(resident_shared() >= before + few, "a little is kept");
    for (size_t at = few; at < much; at += page) base[at] = (char)(at / page % 100);
    peers_count(1 * MiB);
    expect(resident_shared() >= before + much, "it is not looked at after each call");
    peers_count(64 * MiB);
    expect(resident_shared() < before + few, "too much is forgotten");
    for (size_t at = 0; at < much; at += page)
        expect(base[at] == (char)(at / page % 100), "a page that was forgotten");
    peers_count(64 * MiB);
    /* The program's own shared memory is resident whatever is done: it is found out once. */
    char *own = mmap(NULL, much, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t at = 0; at < much; at += page) own[at] = 1;
    peers_count(64 * MiB);
    before = resident_shared();
    for (size_t at = 0; at < few; at += page) base[at] = (char)(at / page % 100);
    peers_count(64 * MiB);
    expect(resident_shared() >= before + few, "the program's memory is taken for the peers'");
    munmap(own, much);
    peers_count(64 * MiB);
    for (size_t at = 0; at < much; at += page) base[at] = (char)(at / page % 100);
    peers_count(64 * MiB);
    expect(resident_shared() < few, "what was the program's is the peers' now");
    peer_unmap(&name, true);
    close(fd);
}

/* More regions than the table has places, come and gone in random order. */
static void crowd(uint64_t *random) {
    static struct {
        int fd, users;
        struct segment_name name;
        uintptr_t base;
    } regions[many];
    for (int i = 0; i < many; i++) {
        regions[i].fd = segment_create("unit-region", 4096);
        expect(regions[i].fd >= 0 && segment_name(regions[i].fd, &regions[i].name) == 0,
               "segment %d", i);
        expect(pwrite(regions[i].fd, &i, sizeof i, 0) == sizeof i, "pwrite");
    }
    for (int step = 0; step < 20 * many; step++) {
        int i = (int)draw_below(random, many);
        if (draw_below(random, 2)) {
            uintptr_t base = mapped(&regions[i].name, -1, false);
            expect(regions[i].users == 0 || base == regions[i].base, "region %d has moved", i);
            expect(*(const int *)base == i, "region %d shows region %d", i, *(const int *)base);
            regions[i].base = base;
            regions[i].users++;
        } else if (regions[i].users > 0) {
            peer_unmap(&regions[i].name, false);
            regions[i].users--;
        }
    }
    int used = 0;
    for (int i = 0; i < many; i++) {
        if (regions[i].users > 0)
            used++, expect(*(const int *)regions[i].base == i, "region %d has gone", i);
    }
    expect(mappings_named("unit-region") == used, "%d mappings for %d regions",
           mappings_named("unit-region"), used);
    for (int i = 0; i < many; i++) {
        for (; regions[i].users > 0; regions[i].users--) peer_unmap(&regions[i].name, false);
        close(regions[i].fd);
    }
    expect(mappings_named("unit-region") == 0, "mappings stay behind");
}

/* Under a limit on address space most of it is left to the program. */
static void limited(void) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these take terabytes */
    static const size_t gib = 1 << 30;
    struct segment_name name[3];
    struct rlimit before, limit;
    int fd[3];
    for (int i = 0; i < 3; i++) {
        fd[i] = segment_create("unit-region", gib);
        expect(fd[i] >= 0 && segment_name(fd[i], &name[i]) == 0, "segment_create");
    }
    expect(getrlimit(RLIMIT_AS, &before) == 0, "getrlimit");
    limit = (struct rlimit){8 * gib, before.rlim_max};
    expect(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
    uintptr_t base = 0;
    mapped(&name[0], -1, false);
    mapped(&name[0], -1, false);
    mapped(&name[0], -1, true);
    expect(peer_map(&name[1], -1, false, &base) == -ENOMEM && base == 0, "beyond a quarter");
    peer_unmap(&name[0], true);
    mapped(&name[1], -1, false);
    expect(peer_map(&name[2], -1, false, &base) == -ENOMEM && base == 0, "beyond it again");
    expect(setrlimit(RLIMIT_AS, &before) == 0, "the limit goes");
    mapped(&name[2], -1, false);
    for (int i = 0; i < 3; i++) {
        peer_unmap(&name[i], false);
        close(fd[i]);
    }
    peer_unmap(&name[0], false);
    expect(mappings_named("unit-region") == 0, "mappings stay behind");
#endif
}

static struct segment_name shared_names[4];

static void *come_and_go(void *random) {
    for (int step = 0; step < 2000; step++) {
        const struct segment_name *name = &shared_names[draw_below(random, 4)];
        uintptr_t base = mapped(name, -1, false);
        expect(*(const int *)base == name->fd, "another region's bytes");
        peer_unmap(name, false);
    }
    return NULL;
}

static void at_once(uint64_t *random) {
    pthread_t threads[4];
    uint64_t seeds[4];
    for (int i = 0; i < 4; i++) {
        int fd = segment_create("unit-region", bytes);
        expect(fd >= 0 && segment_name(fd, &shared_names[i]) == 0 &&
                   pwrite(fd, &fd, sizeof fd, 0) == sizeof fd,
               "segment");
    }
    for (int i = 0; i < 4; i++) {
        seeds[i] = draw(random);
        expect(pthread_create(&threads[i], NULL, come_and_go, &seeds[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) close(shared_names[i].fd);
    expect(mappings_named("unit-region") == 0, "mappings stay behind");
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    signal(SIGPIPE, SIG_IGN);
    real_children();
    by_descriptor();
    forgotten();
    limited();
    crowd(&random);
    at_once(&random);
    return 0;
}
