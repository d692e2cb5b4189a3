/* SPDX-License-Identifier: BSD-3-Clause */
/* spaces - many communicators at once, on a machine that says it has 8 TiB of memory: collectives
 * on all of them, long ones on every 11th, then they are freed and another one is made. Prints
 * the most addresses that a rank has taken meanwhile.
 * usage: spaces COMMUNICATORS [KIB], of a block of the long ones
 *        spaces limited: after MPI_Init a rank may map 4 GiB more */
#define _GNU_SOURCE
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { most = 16, most_comms = 1000 };

long __sysconf(int name);
long sysconf(int name); /* in place of the C library's */
long sysconf(int name) {
    if (name == _SC_PHYS_PAGES) return (8L << 40) / __sysconf(_SC_PAGESIZE);
    return __sysconf(name);
}

static int p, me;
static unsigned char *send, *recv;

static long addresses(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1) printf("no /proc/self/statm\n");
    if (file) fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* What rank i has for rank j. */
static int mark(int i, int j) { return 1 + (i * most + j) % 251; }

static void fill(int bytes, int own) {
    for (int j = 0; j < p; j++)
        memset(send + (size_t)j * bytes, own ? mark(me, me) : mark(me, j), (size_t)bytes);
    memset(recv, 0, (size_t)p * bytes);
}

/* Is the first byte and the last of each block that of its sender, for `to`? */
static int wrong(int bytes, int to) {
    int errors = 0;
    for (int i = 0; i < p; i++) {
        int expected = to < 0 ? mark(i, i) : mark(i, to);
        const unsigned char *block = recv + (size_t)i * bytes;
        errors += block[0] != expected || block[bytes - 1] != expected;
    }
    return errors;
}

static int use(MPI_Comm comm, int bytes) {
    int counts[most], displs[most], errors = 0, root = p - 1, period = 1;
    for (int r = 0; r < p; r++) counts[r] = bytes, displs[r] = r * bytes;
    fill(bytes, 0);
    MPI_Alltoall(send, bytes, MPI_BYTE, recv, bytes, MPI_BYTE, comm);
    errors += wrong(bytes, me);
    fill(bytes, 0);
    MPI_Alltoallv(send, counts, displs, MPI_BYTE, recv, counts, displs, MPI_BYTE, comm);
    errors += wrong(bytes, me);
    fill(bytes, 1);
    MPI_Allgather(send, bytes, MPI_BYTE, recv, bytes, MPI_BYTE, comm);
    errors += wrong(bytes, -1);
    fill(bytes, 1);
    MPI_Allgatherv(send, bytes, MPI_BYTE, recv, counts, displs, MPI_BYTE, comm);
    errors += wrong(bytes, -1);
    fill(bytes, 1);
    MPI_Gather(send, bytes, MPI_BYTE, recv, bytes, MPI_BYTE, root, comm);
    if (me == root) errors += wrong(bytes, -1);
    fill(bytes, 1);
    MPI_Gatherv(send, bytes, MPI_BYTE, recv, counts, displs, MPI_BYTE, root, comm);
    if (me == root) errors += wrong(bytes, -1);
    fill(bytes, 0);
    MPI_Scatterv(send, counts, displs, MPI_BYTE, recv, bytes, MPI_BYTE, root, comm);
    errors += recv[0] != mark(root, me) || recv[bytes - 1] != mark(root, me);
    MPI_Comm ring;
    MPI_Cart_create(comm, 1, &p, &period, 0, &ring);
    fill(bytes, 0);
    MPI_Neighbor_alltoallv(send, counts, displs, MPI_BYTE, recv, counts, displs, MPI_BYTE, ring);
    errors += recv[bytes - 1] != mark((me + p - 1) % p, 1); /* my neighbours are below, above */
    MPI_Comm_free(&ring);
    return errors;
}

int main(int argc, char **argv) {
    static MPI_Comm comms[most_comms];
    int limited = argc > 1 && strcmp(argv[1], "limited") == 0, errors = 0;
    int count = argc > 1 && !limited ? atoi(argv[1]) : 1, kib = argc > 2 ? atoi(argv[2]) : 64;
    long before, grown, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    send = malloc((size_t)p * kib << 10);
    recv = malloc((size_t)p * kib << 10);
    before = addresses();
    if (!send || !recv || p < 3 || p > most || count > most_comms) MPI_Abort(MPI_COMM_WORLD, 1);
    struct rlimit limit = {before + (4L << 30), RLIM_INFINITY};
    if (limited) setrlimit(RLIMIT_AS, &limit);
    for (int k = 0; k < count; k++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
        errors += use(comms[k], k % 11 == 0 ? kib << 10 : 8);
    }
    grown = addresses() - before;
    for (int k = 0; k < count; k++) MPI_Comm_free(&comms[k]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Barrier(comms[0]);
    MPI_Comm_free(&comms[0]);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&grown, &all, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors, %ld GiB\n", p, errors, all >> 30);
    MPI_Finalize();
    return errors > 0;
}
