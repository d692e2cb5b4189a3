/* SPDX-License-Identifier: BSD-3-Clause */
/* gaps - what lies between the blocks of a datatype is not the call's: it need not be memory, and
 * another thread may receive there in a call of its own.
 * usage: gaps ROUNDS */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int p, me, rounds, errors;

/* ---- two arrays of ints, as far apart as other memory lies between, reduced together ---- */

enum { ints = 64, page = 4096 };
static const MPI_Aint apart = 16 << 20;

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    for (MPI_Aint at = 0; at < *count * extent; at += extent)
        for (int half = 0; half < 2; half++)
            for (int i = 0; i < ints; i++)
                ((int *)((char *)inout + at + half * apart))[i] +=
                    ((int *)((char *)in + at + half * apart))[i];
}

/* Only the first and the last page exist. */
static char *two_pages(void) {
    char *memory = mmap(NULL, (size_t)apart + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) exit(2);
    munmap(memory + page, (size_t)apart - page);
    return memory;
}

static void reduce_arrays(void) {
    MPI_Datatype type;
    MPI_Op op;
    const int lengths[] = {ints, ints};
    const MPI_Aint places[] = {0, apart};
    char *send = two_pages(), *recv = two_pages();
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);
    for (int k = 0; k < rounds; k++)
        for (int half = 0; half < 2; half++) {
            int *mine = (int *)(send + half * apart), *all = (int *)(recv + half * apart);
            for (int i = 0; i < ints; i++) mine[i] = me + i + half + k;
            if (half == 0) continue;
            MPI_Allreduce(send, recv, 1, type, op, MPI_COMM_WORLD);
            for (int i = 0; i < ints; i++) errors += all[i] != p * (i + 1 + k) + p * (p - 1) / 2;
        }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* ---- a thread sends what lies before and behind the buffer that another one receives ---- */

/* The first page is an end of the span that is sent, and holds what is received, too. */
enum { before = 100, head = 1000, middle = 32 * page + page - head, tail = 16 * page };
static char *memory;
static MPI_Comm senders;

static void *send_around(void *none) {
    MPI_Datatype type;
    const int lengths[] = {head - before, tail};
    const MPI_Aint places[] = {before, head + middle};
    char *received = malloc((size_t)p * (head + tail));
    MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int k = 0; k < 100; k++) /* the tail alone, so that it comes into reach */
        MPI_Allgather(memory + head + middle, tail, MPI_BYTE, received, tail, MPI_BYTE, senders);
    for (int k = 0; k < rounds; k++) {
        if (me == k % p) MPI_Bcast(memory, 1, type, me, senders);
        else MPI_Bcast(received, head - before + tail, MPI_BYTE, k % p, senders);
    }
    MPI_Type_free(&type);
    free(received);
    return none;
}

static void receive_between(void) {
    const int count = middle / (int)sizeof(int);
    int *mine = malloc(middle), *all = (int *)(memory + head);
    MPI_Comm comm;
    pthread_t thread;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &senders);
    pthread_create(&thread, NULL, send_around, NULL);
    for (int k = 0; k < rounds; k++) {
        for (int i = 0; i < count; i++) mine[i] = me + k + i;
        MPI_Allreduce(mine, all, count, MPI_INT, MPI_SUM, comm);
        for (int i = 0; i < count; i++) errors += all[i] != p * (k + i) + p * (p - 1) / 2;
    }
    pthread_join(thread, NULL);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&senders);
    free(mine);
}

int main(int argc, char **argv) {
    int level, all;
    rounds = argc > 1 ? atoi(argv[1]) : 1500;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (posix_memalign((void **)&memory, page, head + middle + tail) != 0) return 2;
    memset(memory, 0, head + middle + tail);
    reduce_arrays();
    if (level == MPI_THREAD_MULTIPLE) receive_between();
    free(memory);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
