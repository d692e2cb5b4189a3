/* SPDX-License-Identifier: BSD-3-Clause */
/* copies - two small benchmarks that the papers contain, with threads as ranks, one on each
 * processor:
 *   stream   copies by regular and by non-temporal stores (ramesh2024, figure 3)
 *   sides    send-side aggregation against receive-side distribution (kumar2008, figure 5)
 * and what transposed blocks would spare who unpacks (li2018, section 2.5). Prints tables in
 * Markdown; medians of --rounds N (301). Ends with 1 if a copy was wrong. x86 only: lines are
 * flushed. */
#define _GNU_SOURCE
#include <emmintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { line = 64, most_threads = 64, most_rounds = 1001, blocks = 256, ranks = 24 };

static int threads, team, rounds = 301; /* team: threads of the present test */
static pthread_barrier_t gate;
static atomic_bool wrong;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *room(size_t bytes) {
    char *at = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!at) exit(2);
    return memset(at, 1, bytes);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double micro(double *times, int count) {
    qsort(times, (size_t)count, sizeof *times, ascending);
    return 1e6 * times[count / 2];
}

static void meet(void) { pthread_barrier_wait(&gate); }

/* ---- threads, each on a processor of its own ---- */

struct member {
    pthread_t thread;
    int me;
    void (*body)(int me);
};

static void *member_runs(void *argument) {
    struct member *member = argument;
    cpu_set_t mine, all;
    int at = -1;
    sched_getaffinity(0, sizeof all, &all);
    for (int left = member->me; left >= 0; left -= CPU_ISSET(at, &all) != 0) at++;
    CPU_ZERO(&mine);
    CPU_SET(at, &mine);
    pthread_setaffinity_np(pthread_self(), sizeof mine, &mine);
    member->body(member->me);
    return NULL;
}

static void all_run(int count, void (*body)(int me)) {
    struct member members[most_threads];
    team = count;
    pthread_barrier_init(&gate, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
        members[i] = (struct member){.me = i, .body = body};
        if (pthread_create(&members[i].thread, NULL, member_runs, &members[i]) != 0) exit(2);
    }
    for (int i = 0; i < count; i++) pthread_join(members[i].thread, NULL);
    pthread_barrier_destroy(&gate);
}

/* ---- stream ---- */

static struct {
    char *from, *to;
    size_t bytes;
    bool past;
    double seconds;
} stream;

static void copy_line(char *to, const char *from, bool past) {
    for (int i = 0; i < line; i += 16) {
        __m128i part = _mm_load_si128((const __m128i *)(from + i));
        if (past) _mm_stream_si128((__m128i *)(to + i), part);
        else _mm_store_si128((__m128i *)(to + i), part);
    }
}

static void stream_body(int me) {
    size_t part = stream.bytes / (size_t)team / line * line, at = (size_t)me * part;
    memset(stream.from + at, me + 2, part);
    for (int round = 0; round < 5; round++) {
        meet();
        double start = now();
        if (stream.past) /* two loops: the choice is not made for each line */
            for (size_t i = at; i < at + part; i += line)
                copy_line(stream.to + i, stream.from + i, true);
        else
            for (size_t i = at; i < at + part; i += line)
                copy_line(stream.to + i, stream.from + i, false);
        _mm_sfence();
        meet();
        double took = now() - start;
        if (me == 0 && (round == 0 || took < stream.seconds)) stream.seconds = took;
    }
    if (stream.to[at + part - 1] != (char)(me + 2)) wrong = true;
}

static void do_stream(size_t bytes) {
    stream.from = room(bytes), stream.to = room(bytes), stream.bytes = bytes;
    puts("| threads | regular stores, GB/s | non-temporal, GB/s | ratio |\n|---|---|---|---|");
    for (int count = 1; count <= threads; count *= 2) {
        double rate[2];
        for (int past = 0; past < 2; past++) {
            stream.past = past;
            all_run(count, stream_body);
            rate[past] = 2e-9 * (double)bytes / stream.seconds;
        }
        printf("| %d | %.1f | %.1f | %.2f |\n", count, rate[0], rate[1], rate[1] / rate[0]);
    }
    free(stream.from);
    free(stream.to);
}

/* ---- sides ---- */

enum side { AGGREGATE, FROM_MEMORY, FROM_CACHE, SIDES };
static struct {
    char *own[most_threads], *shared; /* [blocks * size] each; shared: of all */
    size_t size;
    double times[SIDES][most_rounds];
} sides;

/* What a rank sends it has written itself. What comes lies in memory if the adapter writes there,
 * as InfiniPath did, or in another processor's cache. */
static void sides_round(int me, enum side side, int round) {
    size_t part = blocks * sides.size;
    char *mine = sides.shared + (size_t)me * part, *own = sides.own[me];
    char *next = sides.shared + (size_t)((me + 1) % team) * part;
    char *from = side == AGGREGATE ? own : mine, *to = side == AGGREGATE ? mine : own;
    meet();
    memset(side == AGGREGATE ? own : next, round, part);
    meet();
    for (size_t i = 0; side == FROM_MEMORY && i < part; i += line) _mm_clflush(from + i);
    meet();
    double start = now();
    for (int b = 0; b < blocks; b++) { /* blocks lie scattered */
        size_t place = (size_t)(b * 7 % blocks) * sides.size;
        memcpy(to + place, from + place, sides.size);
    }
    if (me == 0) sides.times[side][round] = now() - start;
    if (to[part - 1] != (char)round) wrong = true;
}

static void sides_body(int me) {
    for (int side = 0; side < SIDES; side++)
        for (int round = 0; round < rounds; round++) sides_round(me, (enum side)side, round);
}

static void do_sides(void) {
    enum { most = 4096 };
    puts(
        "| block | aggregation, us | distribution, from memory | from a cache |\n|---|---|---|---|");
    for (int i = 0; i < threads; i++) sides.own[i] = room(blocks * most);
    sides.shared = room((size_t)threads * blocks * most);
    for (sides.size = 64; sides.size <= most; sides.size *= 4) {
        all_run(threads, sides_body);
        double base = micro(sides.times[AGGREGATE], rounds);
        printf("| %zu | %.1f |", sides.size, base);
        for (int side = FROM_MEMORY; side < SIDES; side++) {
            double took = micro(sides.times[side], rounds);
            printf(" %.1f (%.1f) |", took, took / base);
        }
        putchar('\n');
    }
    for (int i = 0; i < threads; i++) free(sides.own[i]);
    free(sides.shared);
}

/* ---- unpacking ---- */

static struct {
    size_t all, size; /* ranks of the job; bytes of a block */
    char *in, *turned, *recv;
    double times[2][most_rounds];
} un;

static void copy_one(char *to, const char *from) {
    switch (un.size) {
    case 8: memcpy(to, from, 8); break;
    case 16: memcpy(to, from, 16); break;
    case 32: memcpy(to, from, 32); break;
    default: memcpy(to, from, un.size);
    }
}

/* Rows begin .. end-1 of blocks become columns; the longer side is halved. */
static void transpose(size_t begin, size_t end, size_t left, size_t right) {
    if (end - begin <= 8 && right - left <= 8) {
        for (size_t c = left; c < right; c++)
            for (size_t r = begin; r < end; r++)
                copy_one(un.turned + (c * un.all + r) * un.size, un.in + (r * ranks + c) * un.size);
    } else if (end - begin >= right - left) {
        transpose(begin, (begin + end) / 2, left, right);
        transpose((begin + end) / 2, end, left, right);
    } else {
        transpose(begin, end, left, (left + right) / 2);
        transpose(begin, end, (left + right) / 2, right);
    }
}

/* The first byte of a block in this round. */
static char tag(size_t source, size_t dest, int round) {
    return (char)(source * 7 + dest * 3 + (size_t)round);
}

static void check_part(size_t rank, int round) {
    size_t begin = 0, end = un.all;
    if (round % 2)
        begin = un.all * rank / ranks, end = un.all * (rank + 1) / ranks; /* its own part */
    for (size_t s = begin; s < end; s++)
        if (un.recv[s * un.size] != tag(s, rank, round)) wrong = true;
}

/* Thread 0 is the leader, into whose cache all blocks come; the last one is one of the ranks, and
 * does its part. */
static void unpack_body(int me) {
    for (int round = 0; round < 2 * rounds; round++) {
        size_t rank = (size_t)round % ranks;
        meet();
        if (me == 0) memset(un.in, round, un.all * ranks * un.size);
        if (me == 0) memset(un.turned, round, un.all * ranks * un.size);
        for (size_t b = 0; me == 0 && b < un.all * ranks; b++)
            un.in[b * un.size] = tag(b / ranks, b % ranks, round);
        meet();
        if (me != team - 1) continue;
        double start = now();
        for (size_t s = 0; round % 2 == 0 && s < un.all; s++)
            copy_one(un.recv + s * un.size, un.in + (s * ranks + rank) * un.size);
        if (round % 2) {
            transpose(un.all * rank / ranks, un.all * (rank + 1) / ranks, 0, ranks);
            memcpy(un.recv, un.turned + rank * un.all * un.size, un.all * un.size);
        }
        un.times[round % 2][round / 2] = now() - start;
        check_part(rank, round);
    }
}

static void do_unpack(void) {
    puts("| nodes x ranks | block | row by row, us | transposed by all, then copied, us |\n"
         "|---|---|---|---|");
    for (size_t nodes = 16; nodes <= 128; nodes *= 8)
        for (un.size = 8; un.size <= 64; un.size *= 2) {
            un.all = nodes * ranks;
            un.in = room(un.all * ranks * un.size), un.turned = room(un.all * ranks * un.size);
            un.recv = room(un.all * un.size);
            all_run(threads < 2 ? 1 : 2, unpack_body);
            double rows = micro(un.times[0], rounds), turned = micro(un.times[1], rounds);
            printf("| %zux%d | %zu | %.1f | %.1f |\n", nodes, ranks, un.size, rows, turned);
            free(un.in), free(un.turned), free(un.recv);
        }
}

int main(int count, char **words) {
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    threads = CPU_COUNT(&all) < most_threads ? CPU_COUNT(&all) : most_threads;
    if (count == 3 && strcmp(words[1], "--rounds") == 0) rounds = atoi(words[2]);
    if (count == 2 || count > 3 || rounds < 1 || rounds > most_rounds) {
        fputs("usage: copies [--rounds N], 1 to 1001\n", stderr);
        return 2;
    }
    do_stream(rounds > 9 ? (size_t)512 << 20 : (size_t)8 << 20);
    putchar('\n');
    do_sides();
    putchar('\n');
    do_unpack();
    if (wrong) fputs("copies: a copy was wrong\n", stderr);
    return wrong;
}
