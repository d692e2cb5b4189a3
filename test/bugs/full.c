/* SPDX-License-Identifier: BSD-3-Clause */
/* full - the heap's region is full, but for what the program has freed in it. So what mortar copies
 * of vectors that cannot move lies in memory of the program's, which is private. Sums of shared
 * mappings, of lengths that end within a page, are right all the same, and say what they are. */
#define _GNU_SOURCE
#include <mpi.h>

#include <sys/mman.h>

#include "test/heap/heap_test.h"

enum { piece = 200 << 10, least = 12 << 10, most = 4096, longest = 30000, rounds = 40 };

static int me, p, errors;

static void *allocated(size_t bytes) {
    void *memory = NULL;
    MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory);
    return memory;
}

/* Until the region has no room, nor the memory that is shared from the beginning, of which
 * MPI_Alloc_mem gives. Then frees every other block. Returns how many it has freed. */
static int fill(void) {
    static void *blocks[most];
    int count = 0, freed = 0;
    while (count < most && in_region(blocks[count] = malloc(piece))) count++;
    for (size_t less = piece; less >= least; less /= 2)
        for (int k = 0; k < most && in_region(allocated(less)); k++) {}
    for (int i = 0; i < count; i += 2, freed++) free(blocks[i]);
    return freed;
}

static long *unmovable(void) {
    void *map = mmap(NULL, longest * sizeof(long), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

static long value(int round, int rank, int i) { return (long)round * 1000003 + rank * 7 + i; }

static void sums(const long *send, const long *recv, int count, int round, int ranks) {
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        long sum = 0;
        for (int r = 0; r < ranks; r++) sum += value(round, r, i);
        wrong += recv[i] != sum || send[i] != value(round, me, i);
    }
    if (wrong && errors++ < 3)
        printf("rank %d, round %d: %d of %d sums are wrong\n", me, round, wrong, count);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    int one = 1, all = 0, freed[2];
    for (int k = 0; k < 3; k++) MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int mine[2] = {fill(), 0};
    long *send = unmovable(), *recv = unmovable();
    for (int round = 0; round < rounds && send && recv; round++) {
        int count = 4100 + 613 * round;
        for (int i = 0; i < count; i++) send[i] = value(round, me, i);
        MPI_Allreduce(send, recv, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        sums(send, recv, count, round, p);
        MPI_Scan(send, recv, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        sums(send, recv, count, round, me + 1);
    }
    mine[1] = errors + (!send || !recv);
    MPI_Reduce(mine, freed, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors, %d blocks freed\n", p, freed[1], freed[0]);
    MPI_Finalize();
    return errors != 0;
}
