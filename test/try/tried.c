/* SPDX-License-Identifier: BSD-3-Clause */
/* tried - an MPI program for `mortar try`: 200 alltoalls of 32 KiB, whose results it prints.
 * Words make it fail (fail CODE), fail only under mortar (fail-preloaded CODE), print another line
 * under mortar (differ), or another line in each run (clock). */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { count = 8192, calls = 200 };

/* Of all ranks, after the exchange. */
static long exchanged(int p, int me) {
    static long sum;
    int *send = malloc(sizeof *send * count * (size_t)p);
    int *recv = malloc(sizeof *recv * count * (size_t)p);
    for (int call = 0; send && recv && call < calls; call++) {
        for (int i = 0; i < p * count; i++) send[i] = me + call + i;
        MPI_Alltoall(send, count, MPI_INT, recv, count, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < p * count; i += 97) sum += recv[i];
    }
    long all = 0;
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    free(send);
    free(recv);
    return all;
}

int main(int words, char **word) {
    int p, me, code = 0;
    const char *preload = getenv("LD_PRELOAD"), *what = words > 1 ? word[1] : "";
    bool preloaded = preload && strstr(preload, "libmortar");
    MPI_Init(&words, &word);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    long all = exchanged(p, me);
    if (me == 0) printf("ranks=%d sum=%ld\n", p, all);
    if (me == 0 && strcmp(what, "differ") == 0) printf("preloaded=%d\n", preloaded);
    if (me == 0 && strcmp(what, "clock") == 0) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        printf("clock=%ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
    }
    if (strcmp(what, "fail") == 0 || (strcmp(what, "fail-preloaded") == 0 && preloaded))
        code = atoi(word[2]);
    MPI_Finalize();
    return code;
}
