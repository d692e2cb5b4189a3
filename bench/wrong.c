/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong - an MPI_Alltoall that damages one bit of the first block that a rank receives. Preloaded by smoke_test.py: does the bench
 * see it? Arguments travel as machine words, so that no mpi.h is needed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

int MPI_Alltoall(intptr_t send, intptr_t sends, intptr_t sent, intptr_t recv, intptr_t count, intptr_t type, intptr_t comm);

int MPI_Alltoall(intptr_t send, intptr_t sends, intptr_t sent, intptr_t recv, intptr_t count, intptr_t type, intptr_t comm) {
    int (*original)(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);
    *(void **)&original = dlsym(RTLD_NEXT, "MPI_Alltoall");
    int error = original(send, sends, sent, recv, count, type, comm);
    ((char *)recv)[(int)count - 1] ^= 64; /* counts are bytes here; block 0 ends there */
    return error;
}
