/* SPDX-License-Identifier: BSD-3-Clause */
/* ahead - sums of doubles, of which the root comes first, and in every second one last: when all
 * others have told it that their call is over, or after 0.2 s: a reduce may wait for its root.
 * Counts the calls, and those that waited.
 * usage: ahead CALLS */
#define _POSIX_C_SOURCE 199309L
#include "repeat.h"

#include <stdlib.h>
#include <time.h>

enum { length = 16, kinds = 2 };

/* Have all others told me so before the time is over? */
static int are_over(int step, int others) {
    double end = MPI_Wtime() + 0.2;
    int heard = 0, there;
    while (heard < others) {
        MPI_Iprobe(MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (there)
            MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        heard += there;
        struct timespec moment = {.tv_nsec = 20000};
        if (!there && MPI_Wtime() > end) return heard;
        if (!there) nanosleep(&moment, NULL);
    }
    return heard;
}

int main(int count, char **words) {
    int steps = count > 1 ? atoi(words[1]) : 100, calls[kinds] = {0}, errors = 0, p, me;
    double mine[length], sum[length];
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int step = 0; step < steps; step++) {
        int last = step % 2, heard = me == 0 && last ? are_over(step, p - 1) : 0;
        if (me != 0 && !last) nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        for (int i = 0; i < length; i++) mine[i] = step + i;
        MPI_Reduce(mine, sum, length, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        for (int i = 0; i < length && me == 0; i++) errors += sum[i] != p * (double)(step + i);
        calls[0]++;
        calls[1] += me == 0 && last && heard < p - 1;
        if (me != 0) MPI_Send(NULL, 0, MPI_INT, 0, step, MPI_COMM_WORLD);
        for (; me == 0 && heard < p - 1; heard++)
            MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return repeat_end(NULL, errors, calls, kinds);
}
