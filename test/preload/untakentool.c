/* SPDX-License-Identifier: BSD-3-Clause */
/* untakentool - a tool that sees nonblocking calls and waits, for any MPI: it knows no mpi.h. Says
 * in the end how many there were. */
#include <stdint.h>
#include <stdio.h>

typedef intptr_t word;
int PMPI_Ialltoall(word a, word b, word c, word d, word e, word f, word g, word h);
int MPI_Ialltoall(word a, word b, word c, word d, word e, word f, word g, word h);
int PMPI_Waitall(word a, word b, word c);
int MPI_Waitall(word a, word b, word c);

static int calls, waits;

int MPI_Ialltoall(word a, word b, word c, word d, word e, word f, word g, word h) {
    calls++;
    return PMPI_Ialltoall(a, b, c, d, e, f, g, h);
}

int MPI_Waitall(word a, word b, word c) {
    waits++;
    return PMPI_Waitall(a, b, c);
}

__attribute__((destructor)) static void say(void) {
    if (calls) printf("the tool saw %d and %d\n", calls, waits);
}
