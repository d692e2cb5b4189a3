/* SPDX-License-Identifier: BSD-3-Clause */
/* nearby - short blocks among more ranks than processors, from buffers that stay, take turns, go
 * away and come again elsewhere, in two communicators: ranks map again, side by side, what they
 * often read of each other (src/reach/near.c). Every byte is checked, in every call. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 600, longest = 8 << 10, buffers = 3 };

static int me, p, errors;

static unsigned char value(int round, int from, int to, size_t i) {
    return (unsigned char)(round * 31 + from * 7 + to * 3 + (int)(i % 251));
}

static void check(const unsigned char *recv, size_t n, int round, int to) {
    for (int from = 0; from < p; from++)
        for (size_t i = 0; i < n; i++)
            if (recv[(size_t)from * n + i] != value(round, from, to, i) && errors++ < 3)
                printf("rank %d, round %d: byte %zu from %d\n", me, round, i, from);
}

static void exchange(MPI_Comm comm, unsigned char *send, unsigned char *recv, int round) {
    static const size_t lengths[] = {4096, 1000, longest, 4096, 3000};
    size_t n = lengths[round / 7 % 5];
    int all = round % 5 == 4;
    for (int to = 0; to < (all ? 1 : p); to++)
        for (size_t i = 0; i < n; i++) send[(size_t)to * n + i] = value(round, me, to, i);
    memset(recv, 0, (size_t)p * n);
    if (all) MPI_Allgather(send, (int)n, MPI_BYTE, recv, (int)n, MPI_BYTE, comm);
    else MPI_Alltoall(send, (int)n, MPI_BYTE, recv, (int)n, MPI_BYTE, comm);
    check(recv, n, round, all ? 0 : me);
}

/* Mappings of the peers' regions. */
static int mapped(void) {
    FILE *file = fopen("/proc/self/maps", "r");
    char line[512];
    int count = 0;
    while (file && fgets(line, sizeof line, file))
        count += strstr(line, " r--s ") && strstr(line, "mortar");
    if (file) fclose(file);
    return count;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm[2];
    for (int c = 0; c < 2; c++) MPI_Comm_dup(MPI_COMM_WORLD, &comm[c]);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    unsigned char *send[buffers] = {0}, *recv = malloc((size_t)p * longest);
    int most = 0;
    for (int round = 0; round < rounds; round++) {
        int phase = round * 4 / rounds, k = phase == 0 ? 0 : round % (phase == 1 ? 2 : buffers);
        /* In the last phase each buffer goes away now and then, and blocks of other lengths come
         * between. */
        if (phase == 3 && round % 20 == k) {
            free(send[k]);
            free(malloc((size_t)(round % 9 + 1) << 19));
            send[k] = NULL;
        }
        if (!send[k]) send[k] = malloc((size_t)p * longest + (size_t)(k + round % 3) * 10000);
        exchange(comm[round % 4 == 3], send[k], recv, round);
        if (round % 50 == 49 && mapped() > most) most = mapped();
    }
    for (int c = 0; c < 2; c++) MPI_Comm_free(&comm[c]);
    int all = 0, least = 0;
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&most, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (me == 0) printf("%d mappings of %d peers\n%d ranks, %d errors\n", least, p - 1, p, all);
    for (int k = 0; k < buffers; k++) free(send[k]);
    free(recv);
    MPI_Finalize();
    return all != 0;
}
