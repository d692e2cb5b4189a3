/* SPDX-License-Identifier: BSD-3-Clause */
/* untaken - calls that mortar does not take, a known number of each, completed in all ways, among
 * point-to-point messages that have requests of their own. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int p, me, errors;

static void exchange(int rounds) {
    int *out = calloc((size_t)p, sizeof *out), *in = calloc((size_t)p, sizeof *in), note = me, got;
    for (int round = 0; round < rounds; round++) {
        MPI_Request requests[3];
        MPI_Status statuses[3];
        for (int j = 0; j < p; j++) out[j] = 100 * me + j + round;
        MPI_Isend(&note, 1, MPI_INT, (me + 1) % p, 7, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&got, 1, MPI_INT, (me + p - 1) % p, 7, MPI_COMM_WORLD, &requests[1]);
        MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &requests[2]);
        MPI_Waitall(3, requests, statuses);
        for (int i = 0; i < p; i++) errors += in[i] != 100 * i + me + round;
        errors += got != (me + p - 1) % p || requests[2] != MPI_REQUEST_NULL;
    }
    free(out);
    free(in);
}

static void add_up(int rounds) {
    for (int round = 0; round < rounds; round++) {
        int one = round, all = -1, done = 0, which, count, indices[2];
        MPI_Status statuses[2];
        MPI_Request request, two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        two[1] = request;
        if (round % 4 == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
        while (round % 4 == 1 && !done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (round % 4 == 2) MPI_Waitany(2, two, &which, MPI_STATUS_IGNORE);
        if (round % 4 == 3) MPI_Waitsome(2, two, &count, indices, statuses);
        errors += all != p * round;
    }
}

static void linger(void) {
    for (double until = MPI_Wtime() + 0.2; me == p - 1 && MPI_Wtime() < until;) continue;
}

/* The last rank is late, so the others wait for it, for a fifth of a second, with two requests. */
static void wait_for_last(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int sum;
    linger();
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Iscan(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    errors += sum != me * (me + 1) / 2;
}

static void again_and_again(int rounds) {
#if MPI_VERSION >= 4
    int one = 1, all = 0;
    MPI_Request request;
    MPI_Allreduce_init(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < rounds; round++) {
        all = 0;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        errors += all != p;
    }
    MPI_Request_free(&request);
#else
    (void)rounds;
#endif
}

static void put(int times) {
    int *memory;
    MPI_Win window;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    linger();
    MPI_Win_fence(0, window);
    for (int i = 0; me == 0 && i < times; i++)
        MPI_Put(&i, 1, MPI_INT, p - 1, 0, 1, MPI_INT, window), MPI_Win_fence(0, window);
    for (int i = 0; me != 0 && i < times; i++) MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

int main(int count, char **words) {
    int all = 0;
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    exchange(20);
    add_up(12);
    wait_for_last();
    again_and_again(7);
    put(3);
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors, MPI %d\n", p, all, MPI_VERSION);
    MPI_Finalize();
    return errors > 0;
}
