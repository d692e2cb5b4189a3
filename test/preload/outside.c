/* SPDX-License-Identifier: BSD-3-Clause */
/* outside - exchanges between buffers of all kinds, most of them outside the shared heap: on the
 * stack of a thread that the program made, from mmap for another one. Which kind it is differs
 * between ranks and calls.
 * usage: outside BYTES CALLS [same|mixed|heap [shared]]. shared: instead of stack and mappings
 * three places in one shared file, which the stand-in for XPMEM can show to other processes. */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { most_ranks = 8, most_bytes = 128 << 10, most = most_ranks * most_bytes };

static char *shared; /* NULL: none */

static char *pick(int kind, int receives, char *stack, char *mapped, char *heap) {
    size_t at = receives ? most : 0;
    if (shared && kind < 3) return shared + (size_t)kind * 2 * most + at;
    return kind == 0  ? stack + at
           : kind < 3 ? mapped + (size_t)(kind - 1) * 2 * most + at
                      : heap + at;
}

static char value(int call, int from, int to, int at) {
    return (char)(call * 37 + from * 11 + to * 3 + at % 251);
}

static int alltoall(char *send, char *recv, int bytes, int p, int me, int call) {
    int wrong = 0;
    for (int j = 0; j < p; j++)
        for (int at = 0; at < bytes; at++) send[j * bytes + at] = value(call, me, j, at);
    memset(recv, 0x55, (size_t)p * (size_t)bytes);
    MPI_Alltoall(send, bytes, MPI_BYTE, recv, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++)
        for (int at = 0; at < bytes; at++) wrong += recv[i * bytes + at] != value(call, i, me, at);
    return wrong;
}

static int allgather_in_place(char *recv, int bytes, int p, int me, int call) {
    int wrong = 0;
    memset(recv, 0x55, (size_t)p * (size_t)bytes);
    for (int at = 0; at < bytes; at++) recv[me * bytes + at] = value(call, me, 0, at);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, recv, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++)
        for (int at = 0; at < bytes; at++) wrong += recv[i * bytes + at] != value(call, i, 0, at);
    return wrong;
}

static int run(int count, char **words) {
    static const int in_place_every = 4;
    char stack[2 * most];
    int p, me, wrong = 0;
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int bytes = count > 1 ? atoi(words[1]) : 4096, calls = count > 2 ? atoi(words[2]) : 10;
    const char *how = count > 3 ? words[3] : "same";
    char *heap = malloc(2 * most);
    char *mapped = mmap(NULL, 4 * most, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (p > most_ranks || bytes > most_bytes || !heap || mapped == MAP_FAILED) return 2;
    if (count > 4) {
        int fd = memfd_create("outside", MFD_CLOEXEC);
        if (fd < 0 || ftruncate(fd, 6 * most) != 0) return 2;
        shared = mmap(NULL, 6 * most, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (shared == MAP_FAILED) return 2;
    }
    unsigned random = (unsigned)me * 7919 + 1;
    for (int call = 0; call < calls && wrong == 0; call++) {
        int sends = call % 3, receives = (call + 1) % 3;
        if (strcmp(how, "heap") == 0) sends = receives = 3;
        if (strcmp(how, "mixed") == 0) {
            random = random * 1103515245 + 12345;
            sends = (int)(random >> 16) % 4, receives = (int)(random >> 20) % 4;
        }
        char *send = pick(sends, 0, stack, mapped, heap),
             *recv = pick(receives, 1, stack, mapped, heap);
        if (call % in_place_every == in_place_every - 1)
            wrong += allgather_in_place(recv, bytes, p, me, call);
        else wrong += alltoall(send, recv, bytes, p, me, call);
        if (wrong) fprintf(stderr, "rank %d call %d: %d bytes are wrong\n", me, call, wrong);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, wrong);
    MPI_Finalize();
    return wrong != 0;
}

struct arguments {
    int count, code;
    char **words;
};

static void *run_elsewhere(void *state) {
    struct arguments *arguments = state;
    arguments->code = run(arguments->count, arguments->words);
    return NULL;
}

int main(int count, char **words) {
    struct arguments arguments = {.count = count, .words = words};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_elsewhere, &arguments) != 0) return 2;
    pthread_join(thread, NULL);
    return arguments.code;
}
