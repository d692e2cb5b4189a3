/* SPDX-License-Identifier: BSD-3-Clause */
/* scarce - one rank does not get the memory in which what it sends, or receives, is packed; over
 * nodes, where no barrier tells the others. Nobody may wait for ever; that rank has an error; every
 * other one has an error or what it should have, and so have all of them in the next call.
 * usage: scarce SECONDS: that a call may take
 *        scarce report RANK: that one has no memory for the report
 *
 * The program's own malloc comes before mortar's. While it is told to it refuses mortar memory for
 * one block, or for a block of each rank. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { count = 30011, most_ranks = 8 };

static bool scarce;
static int me, p, errors, refused, refusals_here, root;

void *malloc(size_t bytes) {
    static void *(*next)(size_t bytes);
    if (!next) next = (void *(*)(size_t))(uintptr_t)dlsym(RTLD_NEXT, "malloc");
    Dl_info who;
    bool ours = scarce && (bytes == count || bytes == (size_t)p * count) &&
                dladdr(__builtin_return_address(0), &who);
    if (ours && strstr(who.dli_fname, "libmortar")) return refused++, NULL;
    return next(bytes);
}

static bool no_report;
void *calloc(size_t number, size_t bytes) {
    static void *(*next)(size_t number, size_t bytes);
    Dl_info who;
    if (no_report && number * bytes > 1 << 20 && dladdr(__builtin_return_address(0), &who) &&
        strstr(who.dli_fname, "libmortar"))
        return NULL;
    if (!next) next = (void *(*)(size_t, size_t))(uintptr_t)dlsym(RTLD_NEXT, "calloc");
    return next(number, bytes);
}

/* Count bytes, of each second one; a distributed array, which the MPI library packs. */
static MPI_Datatype bytes;
static char sends[most_ranks][2 * count + 1], recvs[most_ranks][2 * count + 1];
static int counts[most_ranks], displs[most_ranks], places[most_ranks];
static MPI_Datatype types[most_ranks];

static int alltoall(void) { return MPI_Alltoall(sends, 1, bytes, recvs, 1, bytes, MPI_COMM_WORLD); }
static int alltoallv(void) {
    return MPI_Alltoallv(sends, counts, displs, bytes, recvs, counts, displs, bytes,
                         MPI_COMM_WORLD);
}
static int alltoallw(void) {
    return MPI_Alltoallw(sends, counts, places, types, recvs, counts, places, types,
                         MPI_COMM_WORLD);
}
static int allgather(void) {
    return MPI_Allgather(sends[0], 1, bytes, recvs, 1, bytes, MPI_COMM_WORLD);
}
static int allgatherv(void) {
    return MPI_Allgatherv(sends[0], 1, bytes, recvs, counts, displs, bytes, MPI_COMM_WORLD);
}
static int bcast(void) {
    return MPI_Bcast(me == root ? sends[0] : recvs[0], 1, bytes, root, MPI_COMM_WORLD);
}
static int gather(void) {
    return MPI_Gather(sends[0], 1, bytes, recvs, 1, bytes, root, MPI_COMM_WORLD);
}
static int gatherv(void) {
    return MPI_Gatherv(sends[0], 1, bytes, recvs, counts, displs, bytes, root, MPI_COMM_WORLD);
}
static int scatterv(void) {
    return MPI_Scatterv(sends, counts, displs, bytes, recvs[0], 1, bytes, root, MPI_COMM_WORLD);
}

static const struct kind {
    const char *name;
    int (*call)(void);
    bool to_each; /* else every rank sends the same to all */
    bool gathers, scatters, is_bcast;
} kinds[] = {{"alltoall", alltoall, true, false, false, false},
             {"alltoallv", alltoallv, true, false, false, false},
             {"alltoallw", alltoallw, true, false, false, false},
             {"allgather", allgather, false, false, false, false},
             {"allgatherv", allgatherv, false, false, false, false},
             {"bcast", bcast, false, false, false, true},
             {"gather", gather, false, true, false, false},
             {"gatherv", gatherv, false, true, false, false},
             {"scatterv", scatterv, true, false, true, false}};

static char byte_of(const struct kind *kind, int round, int from, int to, int at) {
    return (char)(round * 7 + from * 31 + (kind->to_each ? to * 13 : 0) + at * 3 + 1);
}

static bool is_right(const struct kind *kind, int round) {
    if (kind->gathers && me != root) return true;
    if (kind->is_bcast && me == root) return true;
    for (int r = 0; r < p; r++) {
        int from = kind->scatters || kind->is_bcast ? root : r,
            block = kind->scatters || kind->is_bcast ? 0 : r;
        for (int at = 0; at < count; at++)
            if (recvs[block][2 * at] != byte_of(kind, round, from, me, at) ||
                recvs[block][2 * at + 1] != 0x55)
                return false;
        if (block != r) break;
    }
    return true;
}

static void one(const struct kind *kind, int round, int victim, unsigned seconds) {
    root = round % p;
    for (int r = 0; r < p; r++)
        for (int at = 0; at < count; at++) sends[r][2 * at] = byte_of(kind, round, me, r, at);
    memset(recvs, 0x55, sizeof recvs);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(seconds);
    refused = 0;
    scarce = me == victim;
    int error = kind->call();
    scarce = false;
    alarm(0);
    refusals_here += refused;
    bool right = error != MPI_SUCCESS || is_right(kind, round);
    if (!right || (victim < 0 && error != MPI_SUCCESS) || (refused && error == MPI_SUCCESS)) {
        fprintf(stderr, "FAILED: rank %d of %d, %s, rank %d without memory: error %d, %s\n", me, p,
                kind->name, victim, error, right ? "refused memory" : "and wrong bytes");
        errors++;
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int words, char **word) {
    static const int size = 2 * count, cyclic = MPI_DISTRIBUTE_CYCLIC, each = 1, two = 2;
    unsigned seconds = words > 1 ? (unsigned)atoi(word[1]) : 20;
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (p > most_ranks) return 2;
    if (words > 2) {
        MPI_Barrier(MPI_COMM_WORLD);
        no_report = me == atoi(word[2]);
        return MPI_Finalize();
    }
    MPI_Datatype plain;
    MPI_Type_create_darray(2, 0, 1, &size, &cyclic, &each, &two, MPI_ORDER_C, MPI_CHAR, &plain);
    MPI_Type_create_resized(plain, 0, 2 * count + 1, &bytes);
    MPI_Type_commit(&bytes);
    for (int r = 0; r < p; r++) {
        counts[r] = 1, displs[r] = r, types[r] = bytes;
        places[r] = r * (2 * count + 1);
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int victim = 0, round = 0; victim < p; victim++) {
            one(&kinds[k], round++, -1, seconds);
            one(&kinds[k], round++, victim, seconds);
            one(&kinds[k], round++, victim, seconds);
        }
    one(&kinds[0], 0, -1, seconds);
    int all = 0, refusals = 0;
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&refusals_here, &refusals, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d wrong, %d times without memory\n", all, refusals);
    MPI_Type_free(&plain);
    MPI_Type_free(&bytes);
    MPI_Finalize();
    return all > 0;
}
