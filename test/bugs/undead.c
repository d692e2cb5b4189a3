/* SPDX-License-Identifier: BSD-3-Clause */
/* undead - a rank waits longer than a second for another one that is late, while a third one looks
 * dead and is not. thread: the first thread of each process has ended. gone: MPI_Finalize does not
 * synchronise, and rank 0 has made all its calls and is gone.
 * usage: undead thread | gone */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { calls = 3000 };
static int gone, argument_count;
static char **arguments;

static void *run(void *unused) {
    int me, p, errors = 0;
    (void)unused;
    if (!gone) usleep(200000); /* the first thread is no more */
    MPI_Init(&argument_count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    int *send = malloc((size_t)p * sizeof *send), *recv = malloc((size_t)p * sizeof *recv);
    if (!send || !recv) abort();
    for (int number = 0; number < calls; number++) {
        if (me == 1 && number == calls - (gone ? 1 : 10)) sleep(3);
        int mine = me + number, sum = 0, wanted = 0;
        for (int r = 0; r < p; r++) send[r] = me * 1000 + r + number;
        for (int r = 0; r <= me; r++) wanted += r + number;
        if (number % 2 || gone) MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, MPI_COMM_WORLD);
        if (number % 2 || gone) errors += sum != wanted;
        else
            for (int r = 0; r < p; r++) errors += recv[r] != r * 1000 + me + number;
    }
    fprintf(stderr, "rank %d: %d errors\n", me, errors);
    MPI_Finalize();
    exit(errors != 0);
}

int main(int argc, char **argv) {
    pthread_t thread;
    gone = argc > 1 && strcmp(argv[1], "gone") == 0;
    argument_count = argc;
    arguments = argv;
    if (gone) run(NULL);
    if (pthread_create(&thread, NULL, run, NULL) != 0) return 1;
    pthread_exit(NULL);
}
