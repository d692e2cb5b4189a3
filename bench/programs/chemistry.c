/* SPDX-License-Identifier: BSD-3-Clause */
/* chemistry - quantum chemistry over distributed arrays. Each rank holds --size doubles of a
 * window. In each round of tasks a rank draws tasks from a shared counter (MPI_Fetch_and_op); a
 * task gets a block from some rank, computes for a time of its own, and adds a block to another
 * rank. Then comes work that is not shared out, of another length on each rank, and a barrier, to
 * which some come late. There are --iterations tasks for each rank in all, twenty for each rank in
 * a round. */
#include "program.h"

#include <stdlib.h>

enum { block = 256, tasks_each = 20 };

static void task(struct run *run, MPI_Win window, int number) {
    double got[block], add[block];
    int from = drawn(number, 1, run->p), to = drawn(number, 2, run->p);
    int blocks = run->size / block / 2; /* the first half is read, the second one added to */
    MPI_Aint where = (MPI_Aint)block * drawn(number, 3, blocks),
             into = (MPI_Aint)block * (blocks + drawn(number, 4, blocks));
    double begin = spent_begin(run);
    MPI_Win_lock(MPI_LOCK_SHARED, from, 0, window);
    MPI_Get(got, block, MPI_DOUBLE, from, where, block, MPI_DOUBLE, window);
    MPI_Win_unlock(from, window);
    spent_end(run, ONE_SIDED, begin);
    run->wrong += got[0] != from || got[block - 1] != from;
    compute(run, 5 + drawn(number, 5, 30));
    for (int i = 0; i < block; i++) add[i] = 1;
    begin = spent_begin(run);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window);
    MPI_Accumulate(add, block, MPI_DOUBLE, to, into, block, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_unlock(to, window);
    spent_end(run, ONE_SIDED, begin);
}

static int next(struct run *run, MPI_Win counter) {
    int one = 1, got = 0;
    double begin = spent_begin(run);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, counter);
    MPI_Fetch_and_op(&one, &got, MPI_INT, 0, 0, MPI_SUM, counter);
    MPI_Win_unlock(0, counter);
    spent_end(run, ONE_SIDED, begin);
    return got;
}

/* All that was added is there: a block for each task. */
static void check(struct run *run, const double *mine, int tasks) {
    double sum = 0, all;
    int half = run->size / block / 2 * block;
    for (int i = half; i < 2 * half; i++) sum += mine[i];
    SPEND(run, ALLREDUCE, MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    run->wrong += all != (double)tasks * block;
}

void program_chemistry(struct run *run) {
    MPI_Win window, counter;
    double *mine;
    int *count, rounds = (run->iterations + tasks_each - 1) / tasks_each,
                each = tasks_each * run->p;
    if (run->size < 2 * block) run->size = 2 * block;
    double begin = spent_begin(run);
    MPI_Win_allocate((MPI_Aint)run->size * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &count, &counter);
    spent_end(run, ONE_SIDED, begin);
    *count = 0;
    for (int i = 0; i < run->size; i++) mine[i] = i < run->size / block / 2 * block ? run->me : 0;
    SPEND(run, BARRIER, MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0; round < rounds; round++) {
        /* Who draws a number beyond the round's last task has drawn one for nothing: the counter
         * goes on from there, p numbers later. */
        int base = round * (each + run->p), number;
        while ((number = next(run, counter) - base) < each)
            task(run, window, round * each + number);
        compute(run, drawn(run->me, round, 200));
        SPEND(run, BARRIER, MPI_Barrier(MPI_COMM_WORLD));
    }
    check(run, mine, rounds * each);
    begin = spent_begin(run);
    MPI_Win_free(&counter);
    MPI_Win_free(&window);
    spent_end(run, ONE_SIDED, begin);
}
