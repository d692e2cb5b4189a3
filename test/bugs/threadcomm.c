/* SPDX-License-Identifier: BSD-3-Clause */
/* threadcomm - communicators of MPICH's whose ranks are threads, several in each process, and their
 * duplicates; before and after them the processes' own. */
#include <mpi.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 3, most = 64 };
static MPI_Comm all_threads;
static _Atomic int errors;
static int rounds, processes;

static void use(MPI_Comm comm, int wanted) {
    int p, me, sum, all[most]; /* MPICH takes no root beyond the processes */
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    errors += p != wanted;
    for (int k = 0; k < rounds; k++) {
        int mine = me + k, root = k % processes, told = me == root ? k : -1;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
        errors += sum != p * (p - 1) / 2 + p * k;
        MPI_Barrier(comm);
        MPI_Bcast(&told, 1, MPI_INT, root, comm);
        errors += told != k;
        MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int i = 0; i < p; i++) errors += all[i] != i + k;
    }
}

static void *go(void *wanted) {
    MPI_Comm copy;
    MPIX_Threadcomm_start(all_threads);
    use(all_threads, *(int *)wanted);
    MPI_Comm_dup(all_threads, &copy);
    use(copy, *(int *)wanted);
    MPI_Comm_free(&copy);
    use(all_threads, *(int *)wanted);
    MPIX_Threadcomm_finish(all_threads);
    return NULL;
}

/* usage: threadcomm ROUNDS */
int main(int argc, char **argv) {
    int level, p, me, wanted;
    pthread_t others[threads];
    rounds = argc > 1 ? atoi(argv[1]) : 50;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    processes = p;
    wanted = threads * p;
    for (int again = 0; again < 2; again++) {
        use(MPI_COMM_WORLD, p);
        MPIX_Threadcomm_init(MPI_COMM_WORLD, threads, &all_threads);
        for (int t = 0; t < threads; t++) pthread_create(&others[t], NULL, go, &wanted);
        for (int t = 0; t < threads; t++) pthread_join(others[t], NULL);
        MPIX_Threadcomm_free(&all_threads);
    }
    use(MPI_COMM_WORLD, p);
    printf("rank %d of %d: %d errors\n", me, p, errors);
    MPI_Finalize();
    return errors > 0;
}
