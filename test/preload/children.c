/* SPDX-License-Identifier: BSD-3-Clause */
/* children - a program that a rank starts by itself, before MPI_Init and after it: which libraries
 * are preloaded there? */
#include <mpi.h>
#include <stdio.h>

static void show(const char *when) {
    char line[8192] = "";
    FILE *child = popen("echo \"$LD_PRELOAD\"", "r");
    if (!child || !fgets(line, sizeof line, child)) snprintf(line, sizeof line, "no child\n");
    if (child) pclose(child);
    printf("%s: %s", when, line);
}

int main(int count, char **words) {
    int me, all = 0;
    show("before");
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Allreduce(&me, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    show("after");
    MPI_Finalize();
    return 0;
}
