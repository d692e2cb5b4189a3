/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped ROUNDS - buffers in mappings that the program makes and changes as it goes on, each rank
 * in its own way: unmapped and mapped again, mapped over, discarded, made longer, carried
 * elsewhere, unmapped in parts, forked, while threads come and go. Every byte of every result is
 * checked, and every 509th of what must be zero or as it was. */
#define _GNU_SOURCE
#include "repeat.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { page = 4096, least = 1 << 20, most = 4 << 20, usual = PROT_READ | PROT_WRITE };

static int me, p, errors;
static unsigned long dice;

/* A mapping, and how much of it is the buffer. */
struct memory {
    char *start;
    size_t bytes;
} memories[2];

static void expect(bool fine, int round, const char *what) {
    if (!fine && errors++ < 3) printf("rank %d, round %d: %s\n", me, round, what);
}

static char *map(void *at, size_t bytes, int flags) {
    char *start = mmap(at, bytes, usual, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (start == MAP_FAILED) abort();
    return start;
}

static size_t some_pages(size_t below) { return (size_t)roll(&dice, (int)(below / page)) * page; }

static bool is_all(const char *memory, size_t bytes, char value) {
    for (size_t i = 0; i < bytes; i += 509)
        if (memory[i] != value) return false;
    return true;
}

static void carry(struct memory *m, int round) {
    size_t bytes = m->bytes / 2 / page * page + some_pages(m->bytes);
    if (bytes < least || bytes > most) bytes = m->bytes;
    memset(m->start, 7, m->bytes);
    char *start = mremap(m->start, m->bytes, bytes, MREMAP_MAYMOVE);
    if (start == MAP_FAILED) return; /* of several mappings, as natively */
    size_t kept = bytes < m->bytes ? bytes : m->bytes;
    expect(is_all(start, kept, 7) && is_all(start + kept, bytes - kept, 0), round, "carried");
    *m = (struct memory){start, bytes};
}

static void discard(struct memory *m, int round, int advice) {
    size_t at = some_pages(m->bytes), bytes = m->bytes - at;
    memset(m->start, 7, m->bytes);
    expect(madvise(m->start + at, bytes, advice) == 0, round, "madvise");
    expect(is_all(m->start, at, 7), round, "what is not discarded");
    if (advice == MADV_DONTNEED) expect(is_all(m->start + at, bytes, 0), round, "discarded");
}

static void cut(struct memory *m) {
    size_t at = some_pages(m->bytes - least + page);
    munmap(m->start, at);
    m->start += at, m->bytes -= at;
}

static void in_child(const struct memory *m, int round) {
    memset(m->start, 7, m->bytes);
    pid_t child = fork();
    if (child == 0) {
        bool fine = is_all(m->start, m->bytes, 7);
        memset(m->start, 8, m->bytes);
        munmap(m->start, m->bytes);
        _exit(!fine);
    }
    int status = -1;
    bool fine = waitpid(child, &status, 0) == child && status == 0;
    expect(fine && is_all(m->start, m->bytes, 7), round, "a child");
}

static void *nothing(void *unused) { return unused; }

static void thread(void) {
    pthread_t id;
    if (pthread_create(&id, NULL, nothing, NULL) == 0) pthread_join(id, NULL);
}

static void change(struct memory *m, int round) {
    int what = roll(&dice, 200); /* mostly nothing, so that it pays to move them */
    if (what == 0) munmap(m->start, m->bytes), m->start = NULL;
    if (what == 1) map(m->start, m->bytes, MAP_FIXED), expect(!*m->start, round, "mapped over");
    if (what == 2) discard(m, round, MADV_DONTNEED);
    if (what == 3) discard(m, round, MADV_FREE);
    if (what == 4 || what == 5) carry(m, round);
    if (what == 6) cut(m);
    if (what == 7 && roll(&dice, 4) == 0) in_child(m, round);
    if (what == 8) thread();
    if (!m->start || m->bytes < least) {
        if (m->start) munmap(m->start, m->bytes);
        m->bytes = least + some_pages(most - least);
        m->start = map(NULL, m->bytes, 0);
    }
}

static char value(int round, int from, int to, size_t i) {
    return (char)(round * 31 + from * 7 + to * 3 + (int)(i % 253));
}

static void check(const char *recv, int round, size_t each, bool own) {
    int wrong = 0;
    for (int from = 0; from < p; from++)
        for (size_t i = 0; i < each; i++)
            wrong += recv[(size_t)from * each + i] != value(round, from, own ? me : 0, i);
    expect(wrong == 0, round, own ? "an alltoall" : "an allgather");
}

/* Somewhere in the mappings, which are not as long on all ranks; in the same place as long as there
 * are the same. */
static void exchange(int round, unsigned long *common) {
    size_t each = (size_t)(least / 2 >> roll(common, 3)) / (size_t)p, all = each * (size_t)p;
    size_t steps = (memories[0].bytes - all) / page, number = memories[0].bytes >> 16;
    char *send = memories[0].start + number % (steps + 1) * page / 2 + number % 64;
    char *recv = memories[1].start + memories[1].bytes - all;
    bool each_own = roll(common, 2);
    for (int to = 0; to < (each_own ? p : 1); to++)
        for (size_t i = 0; i < each; i++) send[(size_t)to * each + i] = value(round, me, to, i);
    if (roll(&dice, 8) == 0) mprotect(memories[0].start, memories[0].bytes, PROT_READ);
    if (each_own)
        MPI_Alltoall(send, (int)each, MPI_CHAR, recv, (int)each, MPI_CHAR, MPI_COMM_WORLD);
    else MPI_Allgather(send, (int)each, MPI_CHAR, recv, (int)each, MPI_CHAR, MPI_COMM_WORLD);
    mprotect(memories[0].start, memories[0].bytes, usual);
    check(recv, round, each, each_own);
    double *sums = (double *)(void *)memories[1].start;
    int count = 4 << roll(common, 12);
    for (int i = 0; i < count; i++) sums[i] = me + i;
    MPI_Allreduce(MPI_IN_PLACE, sums, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < count; i++) wrong += sums[i] != p * (p - 1) / 2 + (double)p * i;
    expect(wrong == 0, round, "an allreduce");
}

int main(int argc, char **argv) {
    unsigned long common = 1;
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    dice = (unsigned long)me + 2;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 2; i++) change(&memories[i], round);
        exchange(round, &common);
    }
    return repeat_end(NULL, errors, &rounds, 1);
}
