/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks - a thread with a small stack makes all calls, the first ones too, in several sizes.
 * usage: stacks KIB CALLS   of stack; calls of each size and collective */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 1 << 18 };
static int p, me, calls, errors;
static unsigned char *sent, *came;

/* What rank r has at byte i. */
static unsigned char at(int r, size_t i) { return (unsigned char)(r * 31 + (int)(i % 7)); }

static void must_be(const unsigned char *block, size_t bytes, int r) {
    for (size_t i = 0; i < bytes; i++) errors += block[i] != at(r, i);
}

static void exchange(int bytes) {
    size_t n = (size_t)bytes;
    MPI_Alltoall(sent, bytes, MPI_BYTE, came, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) must_be(came + n * (size_t)r, n, r);
    MPI_Allgather(sent, bytes, MPI_BYTE, came, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) must_be(came + n * (size_t)r, n, r);
    MPI_Gather(sent, bytes, MPI_BYTE, came, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Scatter(came, bytes, MPI_BYTE, came + n * (size_t)p, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    must_be(came + n * (size_t)p, n, me);
    if (me == 1)
        for (size_t i = 0; i < n; i++) came[i] = at(1, i);
    MPI_Bcast(came, bytes, MPI_BYTE, 1, MPI_COMM_WORLD);
    must_be(came, n, 1);
}

/* at(r, i) grows with r. */
static void reduce(int bytes) {
    size_t n = (size_t)bytes;
    MPI_Allreduce(sent, came, bytes, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    must_be(came, n, p - 1);
    MPI_Reduce(sent, came, bytes, MPI_UNSIGNED_CHAR, MPI_MIN, p - 1, MPI_COMM_WORLD);
    if (me == p - 1) must_be(came, n, 0);
    MPI_Scan(sent, came, bytes, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    must_be(came, n, me);
    MPI_Exscan(sent, came, bytes, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    if (me > 0) must_be(came, n, me - 1);
    MPI_Reduce_scatter_block(sent, came, bytes, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    must_be(came, n, p - 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void *work(void *nothing) {
    for (int bytes = 7; bytes <= most; bytes *= 8)
        for (int call = 0; call < calls; call++) exchange(bytes), reduce(bytes);
    return nothing;
}

int main(int argc, char **argv) {
    int given, all;
    pthread_attr_t small;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    calls = atoi(argv[2]);
    sent = malloc((size_t)most * (size_t)p);
    came = malloc((size_t)most * (size_t)(p + 1));
    /* One pattern for each block: sizes are multiples of 7. */
    for (size_t i = 0; i < (size_t)most * (size_t)p; i++) sent[i] = at(me, i);
    pthread_attr_init(&small);
    if (pthread_attr_setstacksize(&small, (size_t)atoi(argv[1]) << 10) != 0 ||
        pthread_create(&thread, &small, work, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    pthread_join(thread, NULL);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
