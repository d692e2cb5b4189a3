/* SPDX-License-Identifier: BSD-3-Clause */
/* orders - communicators that are being made, by a nonblocking call or by another thread, while
 * rank 0 is in a collective of another communicator; the other ranks have the reverse order. That
 * is right, and natively it does not hang. A library that makes a communicator of its own in such a
 * collective may wait for the one that is being made, and that for the collective. `single`: with
 * MPI_THREAD_SINGLE, without another thread; `single info`: by MPI_Comm_idup_with_info. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { rounds = 1500 }; /* the neighbourhood gets its team after some hundred */

static int p, me, errors;
static int (*idup_with_info)(MPI_Comm, MPI_Info, MPI_Comm *, MPI_Request *); /* or NULL */

static void start(MPI_Comm *made, MPI_Request *request) {
    if (idup_with_info) idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, made, request);
    else MPI_Comm_idup(MPI_COMM_WORLD, made, request);
}

/* Lets the library send what a nonblocking call has to say. */
static void push(MPI_Request *request) {
    int over;
    for (int i = 0; i < 10; i++) MPI_Test(request, &over, MPI_STATUS_IGNORE);
}

/* Every second number of ten. */
static void send_vector(MPI_Comm comm, MPI_Datatype vector) {
    int numbers[20];
    for (int i = 0; i < 20; i++) numbers[i] = me == 0 ? i : -1;
    MPI_Bcast(numbers, 1, vector, 0, comm);
    for (int i = 0; i < 20; i += 2) errors += numbers[i] != i;
}

static void beside_idup(MPI_Comm comm, MPI_Datatype vector) {
    MPI_Comm made;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) start(&made, &request), push(&request);
    else usleep(300000);
    send_vector(comm, vector);
    if (me != 0) start(&made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
}

static void *duplicate(void *made) {
    MPI_Comm_dup(MPI_COMM_WORLD, made);
    return NULL;
}

static void beside_thread(MPI_Comm comm, MPI_Datatype vector) {
    MPI_Comm made;
    pthread_t thread;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) pthread_create(&thread, NULL, duplicate, &made);
    usleep(me == 0 ? 200000 : 400000);
    send_vector(comm, vector);
    if (me == 0) pthread_join(thread, NULL);
    else duplicate(&made);
    MPI_Comm_free(&made);
}

static void neighbours(void) {
    int one = 1, send[2], recv[2];
    MPI_Comm ring, made;
    MPI_Request request;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &one, 0, &ring);
    for (int k = 0; k < rounds; k++) {
        send[0] = send[1] = me + k;
        if (me == 0) start(&made, &request), push(&request);
        MPI_Neighbor_alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, ring);
        errors += recv[0] != (me + p - 1) % p + k || recv[1] != (me + 1) % p + k;
        if (me != 0) start(&made, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&made);
    }
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv) {
    int level, all;
    MPI_Comm comms[2];
    MPI_Datatype vector;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
    if (argc > 2) *(void **)&idup_with_info = dlsym(RTLD_DEFAULT, "MPI_Comm_idup_with_info");
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int k = 0; k < 2; k++) MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comms[k]);
    MPI_Type_vector(10, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    beside_idup(comms[0], vector);
    if (level == MPI_THREAD_MULTIPLE) beside_thread(comms[1], vector);
    neighbours();
    for (int k = 0; k < 2; k++) MPI_Comm_free(&comms[k]);
    MPI_Type_free(&vector);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
