/* SPDX-License-Identifier: BSD-3-Clause */
/* freed - a thread frees the type of a broadcast in which another one waits for the root, and makes
 * other types and blocks where that one was. The broadcast completes normally (MPI 4.1 section
 * 5.1.9).
 * usage: freed BEFORE WARM   so many calls with the type, and before it with MPI_INT
 *        freed left          error handlers leave calls with lists of types, by longjmp and by the
 *                            end of their thread; then all types that are freed end at once */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { numbers = 200, rounds = 2, others = 200, blocks = 4000 };

/* A call of this thread's own, with a type of its own, which is over before the other one's is. */
static void call_alone(void) {
    int pair[2] = {0};
    MPI_Datatype own;
    MPI_Type_contiguous(2, MPI_INT, &own);
    MPI_Type_commit(&own);
    MPI_Bcast(pair, 1, own, 0, MPI_COMM_SELF);
    MPI_Type_free(&own);
}

static void *free_it(void *type) {
    static char *block[blocks];
    usleep(100000);
    call_alone();
    MPI_Type_free(type);
    for (int k = 0; k < others; k++) {
        MPI_Datatype other;
        MPI_Type_vector(numbers / 2, 1, 7 + k % 50, MPI_DOUBLE, &other);
        MPI_Type_commit(&other);
        MPI_Type_free(&other);
    }
    for (size_t k = 0; k < blocks; k++) {
        size_t bytes = 32 + k % 32 * 16;
        block[k] = malloc(bytes);
        memset(block[k], 0x77, bytes);
    }
    for (int k = 0; k < blocks; k++) free(block[k]);
    return NULL;
}

static jmp_buf back;
static int own_sent, ended;

static void jump(MPI_Comm *comm, int *error, ...) {
    (void)comm, (void)error;
    longjmp(back, 1);
}

static void end_thread(MPI_Comm *comm, int *error, ...) {
    (void)comm, (void)error;
    pthread_exit(NULL);
}

/* Each rank sends something to itself only: what it does not receive, or a negative count. */
static void *wrong_call(void *on) {
    enum { most = 64 };
    int sent[most] = {0}, received[most] = {0}, displs[most] = {0}, x[2] = {0}, y[2], me;
    MPI_Datatype types[most];
    MPI_Comm comm = *(MPI_Comm *)on;
    MPI_Comm_rank(comm, &me);
    for (int r = 0; r < most; r++) types[r] = MPI_INT;
    sent[me] = own_sent, received[me] = 1;
    MPI_Alltoallw(x, sent, displs, types, y, received, displs, types, comm);
    return NULL;
}

static int count_end(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)value, (void)extra;
    ended++;
    return MPI_SUCCESS;
}

/* Returns the errors. */
static int leave(int sent, int by_thread, MPI_Comm_errhandler_function *leaves) {
    MPI_Comm comm;
    MPI_Errhandler handler;
    int key;
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    MPI_Comm_create_errhandler(leaves, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_end, &key, NULL);
    own_sent = sent, ended = 0;
    pthread_t thread;
    if (by_thread) pthread_create(&thread, NULL, wrong_call, &comm), pthread_join(thread, NULL);
    else if (setjmp(back) == 0) wrong_call(&comm);
    for (int k = 0; k < others; k++) {
        MPI_Datatype type;
        MPI_Type_contiguous(2, MPI_INT, &type);
        MPI_Type_set_attr(type, key, NULL);
        MPI_Type_free(&type);
    }
    MPI_Type_free_keyval(&key);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    return ended != others;
}

int main(int argc, char **argv) {
    int level, p, me, errors = 0, all, vector[2 * numbers];
    int before = argc > 1 ? atoi(argv[1]) : 0, warm = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc == 2)
        errors = leave(-1, 0, jump) + leave(2, 0, jump) + leave(-1, 1, end_thread) +
                 leave(2, 1, end_thread);
    MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm);
    for (int k = 0; k < warm; k++) MPI_Bcast(vector, numbers, MPI_INT, 0, comm);
    for (int round = 0; round < rounds && level == MPI_THREAD_MULTIPLE; round++) {
        MPI_Datatype type, same;
        pthread_t thread;
        MPI_Type_vector(numbers, 1, 2, MPI_INT, &type);
        MPI_Type_commit(&type);
        for (int k = 0; k < before; k++) MPI_Bcast(vector, 1, type, 0, comm);
        for (int i = 0; i < 2 * numbers; i++) vector[i] = me == 0 ? i : -1;
        same = type;
        if (me == 0) usleep(250000);
        else pthread_create(&thread, NULL, free_it, &same);
        errors += MPI_Bcast(vector, 1, type, 0, comm) != MPI_SUCCESS;
        for (int i = 0; i < 2 * numbers; i++)
            errors += vector[i] != (i % 2 == 0 || me == 0 ? i : -1);
        if (me == 0) MPI_Type_free(&type);
        else pthread_join(thread, NULL), errors += same != MPI_DATATYPE_NULL;
    }
    MPI_Comm_free(&comm);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
