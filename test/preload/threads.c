/* SPDX-License-Identifier: BSD-3-Clause */
/* threads - MPI_THREAD_MULTIPLE: two threads, each with communicators of its own, which also come
 * and go meanwhile. usage: threads [THREADS [COMMUNICATORS [CALLS]]] */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_threads = 32, n = 700 };

static int threads = 2, rounds = 20, calls = 20;
static MPI_Comm comms[most_threads];

static void *work(void *word) {
    int which = *(int *)word, p, me;
    long errors = 0;
    MPI_Comm_size(comms[which], &p);
    MPI_Comm_rank(comms[which], &me);
    int *send = malloc((size_t)(p * n) * sizeof(int)),
        *recv = malloc((size_t)(p * n) * sizeof(int));
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(comms[which], &comm);
        for (int call = 0; call < calls; call++) {
            for (int j = 0; j < p * n; j++)
                send[j] = (me * 1000 + j / n) * 1000 + which * 500 + call;
            memset(recv, 0, (size_t)(p * n) * sizeof(int));
            int used = call % 2 ? n : 1; /* both plans that mortar chooses */
            MPI_Alltoall(send, used, MPI_INT, recv, used, MPI_INT, call % 3 ? comm : comms[which]);
            for (int j = 0; j < p * used; j++)
                errors += recv[j] != ((j / used) * 1000 + (me * used + j % used) / n) * 1000 +
                                         which * 500 + call;
        }
        MPI_Comm_free(&comm);
    }
    free(send);
    free(recv);
    *(int *)word = (int)errors;
    return NULL;
}

int main(int argc, char **argv) {
    int provided, me;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (me == 0) printf("no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 77;
    }
    if (argc > 1 && atoi(argv[1]) <= most_threads) threads = atoi(argv[1]);
    if (argc > 2) rounds = atoi(argv[2]);
    if (argc > 3) calls = atoi(argv[3]);
    pthread_t ids[most_threads];
    int words[most_threads], errors = 0;
    for (int i = 0; i < threads; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < threads; i++) words[i] = i, pthread_create(&ids[i], NULL, work, &words[i]);
    for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL), errors += words[i];
    for (int i = 0; i < threads; i++) MPI_Comm_free(&comms[i]);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d errors\n", errors);
    MPI_Finalize();
    return errors > 0;
}
