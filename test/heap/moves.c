/* SPDX-License-Identifier: BSD-3-Clause */
/* moves - memory moves while other threads write the bytes beside it, read it, and let system calls
 * read it and write beside it; while signals arrive; in pieces that overlap; and not at all where
 * there is no memory for it, it is locked, or the program fills it when it is touched. No store is
 * lost, nobody sees anything but what was there, and the program's policy of nodes stays. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/mempolicy.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#if __has_include(<linux/io_uring.h>) && defined SYS_io_uring_register
#include <linux/io_uring.h>
#define RING
#endif

enum { MiB = 1 << 20, rounds = 60, most = 3 * MiB };

/* The buffer is [from, to) of the block; everything else belongs to other threads. */
static unsigned char *block;
static _Atomic size_t from, to;
static atomic_bool stop;
static atomic_int lost, torn, told;

/* Writes bytes on both sides of the buffer, some by a system call, and looks whether they stay. */
static void *write_beside(void *which) {
    int ends[2];
    expect(pipe(ends) == 0, "pipe");
    for (unsigned i = 1; !stop; i++) {
        size_t reach = i * 7 % 5000 + 1;
        for (int side = 0; side < 2; side++) {
            size_t at = side == 0 ? from - 1 - reach : to + reach;
            if (at % 2 != (uintptr_t)which) at += side == 0 ? (size_t)-1 : 1;
            unsigned char value = (unsigned char)(i % 251 + 1);
            if (i % 3 == 0) {
                if (write(ends[1], &value, 1) != 1 || read(ends[0], block + at, 1) != 1) lost++;
            } else {
                *(volatile unsigned char *)(block + at) = value;
            }
            for (int k = 0; k < 20; k++)
                if (*(volatile unsigned char *)(block + at) != value) {
                    lost++;
                    break;
                }
        }
    }
    close(ends[0]);
    close(ends[1]);
    return NULL;
}

/* Reads the buffer, which holds 77 all the time. */
static void *read_inside(void *unused) {
    int ends[2];
    unsigned char copy[4096];
    expect(pipe(ends) == 0, "pipe");
    for (size_t i = 0; !stop; i++) {
        size_t room = to - from, at = from + i * 1237 % (room - sizeof copy);
        bool fine = write(ends[1], block + at, sizeof copy) == sizeof copy &&
                    read(ends[0], copy, sizeof copy) == sizeof copy;
        if (!fine || copy[i % sizeof copy] != 77 || block[at] != 77) torn++;
    }
    close(ends[0]);
    close(ends[1]);
    return unused;
}

static void tell(int number) {
    (void)number;
    told++;
}

static pthread_t threads[3];

static void begin(void) {
    stop = false;
    pthread_create(&threads[0], NULL, write_beside, NULL);
    pthread_create(&threads[1], NULL, write_beside, (void *)(uintptr_t)1);
    pthread_create(&threads[2], NULL, read_inside, NULL);
}

static void end(void) {
    stop = true;
    for (int k = 0; k < 3; k++) pthread_join(threads[k], NULL);
}

/* Each round has memory that is private at first, since a page moves but once. */
static void beside_threads(void) {
    signal(SIGALRM, tell);
    for (size_t i = 0; i < rounds; i++) {
        malloc_trim(0);
        block = malloc(most);
        memset(block, 77, most);
        from = MiB / 2 + i * 331 % 5000;
        to = 2 * MiB + i * 577 % 5000;
        expect(!has_moved(block, most, true), "a new block is private");
        begin();
        usleep(300);
        ualarm(200, 0);
        expect(move_it(block + from, to - from) == 0, "it moves beside busy threads");
        expect(has_moved(block + from, to - from, false), "all of it");
        usleep(300);
        end();
        expect(!has_moved(block, from / 4096 * 4096, true) &&
                   !has_moved(block + (to / 4096 + 1) * 4096, most - to - 4096, true),
               "and nothing else");
        free(block);
    }
    ualarm(0, 0);
    signal(SIGALRM, SIG_DFL);
    expect(lost == 0, "no store is lost");
    expect(torn == 0, "nobody reads anything else");
    expect(told > 0, "signals arrived");
}

static void overlaps(void) {
    unsigned *words = malloc(8 * MiB);
    for (size_t i = 0; i < 2 * MiB; i++) words[i] = (unsigned)i;
    for (size_t at = 0; at < MiB; at += 100 * 1000 + 13)
        expect(move_it(words + at, 4 * 150 * 1000) == 0, "pieces that overlap move");
    expect(move_it(words, 8 * MiB) == 0 && has_moved(words, 8 * MiB, false), "and the rest");
    size_t wrong = 0;
    for (size_t i = 0; i < 2 * MiB; i++) wrong += words[i] != (unsigned)i;
    expect(wrong == 0, "the contents");
    free(words);
}

static void refused(void) {
    malloc_trim(0); /* no memory that has moved is left */
    char *beside = malloc(3 * MiB);
    memset(beside, 2, 3 * MiB);
    if (mlock(beside + MiB, MiB) == 0) {
        expect(move_it(beside, MiB) == 0, "what lies before locked memory moves");
        expect(move_it(beside + 2 * MiB + 4096, MiB - 4096) == 0, "and what lies behind it");
    }
    free(beside);
    malloc_trim(0);
    char *locked = malloc(2 * MiB);
    memset(locked, 3, 2 * MiB);
    if (mlock(locked, MiB) == 0) {
        expect(move_it(locked, 2 * MiB) == -EAGAIN && !has_moved(locked, 2 * MiB, true),
               "locked memory stays where it is");
        munlock(locked, MiB);
    }
    expect(move_it(locked, 2 * MiB) == 0 && locked[MiB] == 3, "until it is unlocked");
    /* Or SIGXFSZ would end the process. */
    struct rlimit before, small = {4096, RLIM_INFINITY};
    char *block_here = malloc(2 * MiB);
    memset(block_here, 4, 2 * MiB);
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    int error = move_it(block_here, 2 * MiB);
    setrlimit(RLIMIT_FSIZE, &before);
    expect(error == -EAGAIN, "nothing moves to where files may not be written");
    size_t wrong = 0;
    for (size_t i = 0; i < 2 * MiB; i++) wrong += block_here[i] != 4;
    expect(wrong == 0, "the memory is as it was");
    expect(move_it(block_here, 2 * MiB) == 0 && block_here[5000] == 4, "later it succeeds");
    free(block_here);
    free(locked);
}

/* A file without a name. The maps tell its number, of which each digit counts. */
static int numbered_file(int last_digit) {
    enum { most_files = 64 };
    int tried[most_files], count = 0, found = -1;
    while (found < 0 && count < most_files) {
        char name[] = "/tmp/heap-moves-XXXXXX";
        struct stat facts;
        int fd = mkstemp(name);
        unlink(name);
        if (fstat(fd, &facts) == 0 && (int)(facts.st_ino % 10) == last_digit) found = fd;
        else tried[count++] = fd;
    }
    while (count > (found < 0)) close(tried[--count]);
    return found < 0 ? tried[0] : found;
}

/* What the program has mapped over malloc's memory is its own, and may go away at any time. */
static void mapped_over(void) {
    const int there = MAP_PRIVATE | MAP_FIXED, fd = numbered_file(0);
    malloc_trim(0); /* no memory that has moved is left */
    char *mine = aligned_alloc(2 * MiB, 2 * MiB);
    memset(mine, 6, MiB);
    expect(write(fd, mine, MiB) == MiB, "a file");
    expect(mmap(mine + MiB, MiB, PROT_READ | PROT_WRITE, there, fd, 0) == mine + MiB, "mmap");
    expect(move_it(mine, 2 * MiB) == -EFAULT && !has_moved(mine, 2 * MiB, true),
           "a file that is mapped over a block does not move");
    size_t wrong = 0;
    for (size_t i = 0; i < 2 * MiB; i++) wrong += mine[i] != 6;
    expect(wrong == 0, "and is there");
    mmap(mine + MiB, MiB, PROT_READ | PROT_WRITE, there | MAP_ANONYMOUS, -1, 0);
    expect(move_it(mine, 2 * MiB) == 0 && mine[MiB] == 0, "until it is gone");
    free(mine);
    close(fd);
}

/* The kernel keeps the pages of buffers that are registered with io_uring. The ring lies in the
 * kernel's memory, or (Linux 6.5) in the program's. */
static void registered(bool own_memory) {
#ifdef RING
    enum { in_own_memory = 1 << 14, page = 4096 }; /* IORING_SETUP_NO_MMAP */
    struct io_uring_params params = {.flags = own_memory ? in_own_memory : 0};
    char *buffer = aligned_alloc(page, MiB);
    struct iovec all = {memset(buffer, 5, MiB), MiB};
    char *rings = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    for (int i = 0; i < 2 && own_memory; i++) {
        uint64_t at = (uintptr_t)(rings + i * page); /* the last member of both */
        if (i == 0) memcpy((char *)(&params.sq_off + 1) - sizeof at, &at, sizeof at);
        else memcpy((char *)(&params.cq_off + 1) - sizeof at, &at, sizeof at);
    }
    int ring = (int)syscall(SYS_io_uring_setup, 4, &params);
    size_t bytes = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    void *map = own_memory ? rings
                           : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
                                  IORING_OFF_SQ_RING);
    if (ring >= 0 && map != MAP_FAILED &&
        syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &all, 1) == 0) {
        malloc_trim(0);
        expect(move_it(buffer, MiB) == -EAGAIN, "nothing moves while buffers are registered");
        expect(syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_BUFFERS, NULL, 0) == 0,
               "they are registered no more");
        if (!own_memory) expect(move_it(buffer, MiB) == 0, "until then");
    } else {
        printf("no io_uring%s: not tried\n", own_memory ? " in own memory" : "");
    }
    if (map != rings && map != MAP_FAILED) munmap(map, bytes);
    if (ring >= 0) close(ring);
    munmap(rings, 2 * page);
    free(buffer);
#endif
}

/* A page that misses is not zero: the program fills it when somebody touches it. One that is
 * write-protected so it watches. */
static void watched_by_the_program(bool stores) {
    int told_of_faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    struct uffdio_api api = {.api = UFFD_API};
    malloc_trim(0); /* no memory that has moved is left */
    char *buffer = aligned_alloc(4096, 2 * MiB), *other = memset(malloc(2 * MiB), 7, 2 * MiB);
    madvise(buffer, 2 * MiB, MADV_DONTNEED);
    struct uffdio_register half = {.range = {(uintptr_t)buffer + MiB, MiB},
                                   .mode = stores ? UFFDIO_REGISTER_MODE_WP
                                                  : UFFDIO_REGISTER_MODE_MISSING};
    if (told_of_faults >= 0 && ioctl(told_of_faults, UFFDIO_API, &api) == 0 &&
        ioctl(told_of_faults, UFFDIO_REGISTER, &half) == 0) {
        expect(move_it(buffer, 2 * MiB) == -EAGAIN && !has_moved(buffer, 2 * MiB, true),
               "what is registered with a userfaultfd stays where it is");
        expect(move_it(other, 2 * MiB) == 0 && other[MiB] == 7, "what is not moves");
        expect(ioctl(told_of_faults, UFFDIO_UNREGISTER, &half.range) == 0, "it is no more");
        expect(move_it(buffer, 2 * MiB) == 0 && buffer[MiB] == 0, "until then");
    } else {
        printf("no userfaultfd%s: not tried\n", stores ? " for stores" : "");
    }
    if (told_of_faults >= 0) close(told_of_faults);
    free(buffer);
    free(other);
}

/* A move takes mappings, of which a process may have but so many. */
static void crowded(void) {
    enum { many = 9000, page = 4096 };
    char *pages = mmap(NULL, (size_t)many * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *buffer = malloc(MiB);
    malloc_trim(0);
    for (int i = 0; i < many; i += 2) mprotect(pages + (size_t)i * page, page, PROT_NONE);
    expect(move_it(buffer, MiB) == -EAGAIN, "nothing moves where there are very many mappings");
    munmap(pages, (size_t)many * page);
    expect(move_it(buffer, MiB) == 0, "until there are fewer");
    free(buffer);
}

/* Where the pages may be (mbind): on node 0, or wherever the system likes. */
static int policy_of(const char *address) {
    int policy = -1;
    syscall(SYS_get_mempolicy, &policy, NULL, 0, address, MPOL_F_ADDR);
    return policy;
}

static void on_nodes(void) {
    const unsigned long first = 1;
    malloc_trim(0); /* no memory that has moved is left */
    char *buffer = memset(aligned_alloc(4096, 2 * MiB), 8, 2 * MiB);
    char *half = buffer + MiB;
    if (syscall(SYS_mbind, half, MiB, MPOL_BIND, &first, 2, 0) != 0) {
        printf("no mbind: not tried\n");
    } else {
        expect(move_it(buffer, 2 * MiB) == 0 && half[5000] == 8, "what has a node moves");
        expect(policy_of(half) == MPOL_BIND && policy_of(buffer) == MPOL_DEFAULT,
               "and is to be where it was to be");
        memset(buffer, 0, 2 * MiB);
        free(buffer);
        malloc_trim(0);
        buffer = memset(aligned_alloc(4096, 2 * MiB), 9, 2 * MiB);
        expect(buffer + MiB == half, "the same place");
        expect(move_it(buffer, 2 * MiB) == 0 && policy_of(half) == MPOL_DEFAULT,
               "the next block there has not the policy of the one before");
    }
    free(buffer);
}

/* A filter of system calls, as containers have them; it stays. What a block held is not in the next
 * one that moves at its place. */
static void without_fallocate(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        printf("no filter of system calls: not tried\n");
        return;
    }
    malloc_trim(0);
    char *buffer = memset(aligned_alloc(4096, 2 * MiB), 8, 2 * MiB), *before = buffer;
    expect(move_it(buffer, 2 * MiB) == 0, "it moves without fallocate");
    free(buffer);
    malloc_trim(0);
    buffer = aligned_alloc(4096, 2 * MiB);
    expect(buffer == before, "the same place");
    expect(move_it(buffer, 2 * MiB) == 0, "again");
    size_t wrong = 0;
    for (size_t i = 0; i < 2 * MiB; i++) wrong += buffer[i] != 0;
    expect(wrong == 0, "and is as new as it was");
    free(buffer);
}

int main(void) {
    crowded();
    beside_threads();
    overlaps();
    refused();
    mapped_over();
    registered(false);
    registered(true);
    watched_by_the_program(false);
    watched_by_the_program(true);
    on_nodes();
    without_fallocate();
    return failures > 0;
}
