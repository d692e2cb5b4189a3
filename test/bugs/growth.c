/* SPDX-License-Identifier: BSD-3-Clause */
/* growth - 2,000 communicators are made, used and freed; what the process holds after 200 of them
 * it must hold after all: mappings, descriptors, memory. usage: growth [COMMUNICATORS] */
#include <mpi.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct holdings {
    long maps, files, kilobytes;
};

static struct holdings look(void) {
    struct holdings now = {0};
    char line[512];
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file)) now.maps++;
    if (file) fclose(file);
    file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Rss: %ld", &now.kilobytes) == 1) break;
    if (file) fclose(file);
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder)) now.files++;
    if (folder) closedir(folder);
    return now;
}

static int use(MPI_Comm comm, int round) {
    enum { n = 3000 };
    int p, me, errors = 0, count = round % 4 == 0 ? n : 3;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    int *send = malloc((size_t)(p * count) * sizeof(int)),
        *recv = malloc((size_t)(p * count) * sizeof(int));
    for (int i = 0; i < p * count; i++) send[i] = round * 1000 + me * 100 + i / count;
    MPI_Alltoall(send, count, MPI_INT, recv, count, MPI_INT, comm);
    for (int i = 0; i < p * count; i++) errors += recv[i] != round * 1000 + i / count * 100 + me;
    free(send);
    free(recv);
    return errors;
}

int main(int argc, char **argv) {
    enum { early = 200 };
    MPI_Init(&argc, &argv);
    int p, me, errors = 0, rounds = argc > 1 ? atoi(argv[1]) : 2000;
    struct holdings before = {0}, after;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        if (round % 2) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        else MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &comm);
        errors += use(comm, round);
        MPI_Comm_free(&comm);
        if (round == early) before = look();
    }
    after = look();
    long maps = after.maps - before.maps, files = after.files - before.files,
         kilobytes = after.kilobytes - before.kilobytes;
    if (maps > 8 || files > 2 || kilobytes > 4096) {
        fprintf(stderr, "rank %d grew by %ld maps, %ld descriptors, %ld kB\n", me, maps, files,
                kilobytes);
        errors++;
    }
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("%d ranks, %d errors; %+ld maps, %+ld descriptors, %+ld kB\n", p, errors, maps,
               files, kilobytes);
    MPI_Finalize();
    return errors > 0;
}
