/* SPDX-License-Identifier: BSD-3-Clause */
/* locked - an operation of the program's waits, within the MPI library, for a mutex that another
 * thread holds while it passes a barrier and looks for messages. argv[1]: rounds. */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int begun, ended, within; /* rounds; whether the operation runs */
static int rounds, me, p;
static bool combines;   /* this rank, of two */
static MPI_Comm own[2]; /* of the two threads */

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    within = 1;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void *hold(void *unused) {
    (void)unused;
    for (int round = 1; round <= rounds; round++) {
        int found;
        pthread_mutex_lock(&mutex);
        within = 0;
        begun = round;
        while (combines && !within) usleep(100);
        MPI_Barrier(own[1]);
        MPI_Iprobe(MPI_ANY_SOURCE, 7, own[1], &found, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&mutex);
        while (ended != round) usleep(100);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int level, errors = 0, all;
    pthread_t other;
    MPI_Op op;
    rounds = argc > 1 ? atoi(argv[1]) : 50;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
#ifdef OPEN_MPI
    combines = me == 0;
#else
    combines = true;
#endif
    if (level != MPI_THREAD_MULTIPLE) rounds = 0;
    for (int k = 0; k < 2; k++) MPI_Comm_dup(MPI_COMM_WORLD, &own[k]);
    for (int k = 0; k < 600; k++) MPI_Barrier(own[k % 2]);
    MPI_Op_create(add, 1, &op);
    if (rounds > 0) pthread_create(&other, NULL, hold, NULL);
    for (int round = 1; round <= rounds; round++) {
        int sum = 0, over = 0;
        MPI_Request request;
        while (begun != round) usleep(100);
        MPI_Barrier(own[0]);
        MPI_Iallreduce(&round, &sum, 1, MPI_INT, op, own[0], &request);
        usleep(5000);
        for (; !over; usleep(10)) MPI_Test(&request, &over, MPI_STATUS_IGNORE);
        errors += sum != p * round;
        ended = round;
    }
    if (rounds > 0) pthread_join(other, NULL);
    MPI_Op_free(&op);
    for (int k = 0; k < 2; k++) MPI_Comm_free(&own[k]);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
