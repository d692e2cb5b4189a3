/* SPDX-License-Identifier: BSD-3-Clause */
/* where - says where each rank is: a line `rank host first` each, `first` being the lowest rank
 * that the MPI library finds on the same node. Ranks also exchange what they say around the world
 * and within the node, so that both paths carry bytes. */
#include <mpi.h>

#include <stdio.h>
#include <unistd.h>

int main(int count, char **words) {
    int me, p, first, sum = 0;
    char line[128], name[65] = "", lines[1024][sizeof line];
    MPI_Comm node;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (p > 1024) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node);
    first = me;
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    gethostname(name, sizeof name - 1);
    snprintf(line, sizeof line, "%d %s %d", me, name, first);
    MPI_Gather(line, sizeof line, MPI_CHAR, lines, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; me == 0 && i < p; i++) printf("%s\n", lines[i]);
    if (me == 0) printf("where: %s\n", sum == p * (p - 1) / 2 ? "fine" : "wrong sum");
    fflush(stdout);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
