/* SPDX-License-Identifier: BSD-3-Clause */
/* surroundings - what a program may change around its calls, on one rank: its environment (argv[1]:
 * clears), also in a thread that runs all the time (sets); and traps for operations on floating
 * point numbers that have no result (traps), in calls that compute nothing of the kind. */
#define _GNU_SOURCE
#include <mpi.h>

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 16 << 10 };

static int me, p, errors;
static atomic_bool ends;

static void *sets(void *nothing) {
    char name[32];
    for (unsigned i = 0; !ends; i++) {
        snprintf(name, sizeof name, "A_VARIABLE_%u", i % 5000);
        setenv(name, "a value", 1);
        if (i % 3 == 0) unsetenv(name);
    }
    return nothing;
}

static void use(MPI_Comm comm, int calls) {
    static unsigned char send[most * 16], recv[most * 16];
    int q, mine;
    MPI_Comm_size(comm, &q);
    MPI_Comm_rank(comm, &mine);
    for (int k = 0; k < calls; k++) {
        int n = 1 << k % 15, one = mine + k, sum;
        for (int j = 0; j < q; j++) memset(send + j * n, mine * 16 + j + k, (size_t)n);
        MPI_Alltoall(send, n, MPI_BYTE, recv, n, MPI_BYTE, comm);
        for (int j = 0; j < q; j++)
            errors += recv[j * n] != (unsigned char)(j * 16 + mine + k) ||
                      recv[j * n + n - 1] != (unsigned char)(j * 16 + mine + k);
        MPI_Bcast(send, n, MPI_BYTE, k % q, comm);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        errors += sum != q * k + q * (q - 1) / 2;
        MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        errors += sum != (mine + 1) * k + mine * (mine + 1) / 2;
    }
}

int main(int argc, char **argv) {
    int all = 0, given;
    const char *word = argc > 1 ? argv[1] : "clears";
    int rounds = argc > 2 ? atoi(argv[2]) : 20, calls = argc > 3 ? atoi(argv[3]) : 300;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    bool threads = strcmp(word, "sets") == 0 && pthread_create(&thread, NULL, sets, NULL) == 0;
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        if (round == 3 && me == 0 && strcmp(word, "clears") == 0) clearenv();
        if (round % 2) MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &comm);
        else MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm);
        if (strcmp(word, "traps") == 0) {
            feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW);
            if (round % p == me) usleep(20000);
        }
        use(comm, calls);
        fedisableexcept(FE_ALL_EXCEPT);
        MPI_Comm_free(&comm);
    }
    ends = true;
    if (threads) pthread_join(thread, NULL);
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return errors != 0;
}
