/* SPDX-License-Identifier: BSD-3-Clause */
/* device - rank 0 exchanges from or into "device memory", the others in the heap: all must leave the
 * call to the host MPI, but not if the driver has only registered that memory. The driver is loaded
 * privately and after the first exchange, as frameworks do it. argv[1]: the stand-in driver's
 * path. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { block = 4096 };

static int exchange(char *send, char *recv, int p, int me) {
    for (int j = 0; j < p; j++) memset(send + j * block, 16 * me + j, block);
    memset(recv, 0x55, (size_t)p * block);
    MPI_Alltoall(send, block, MPI_BYTE, recv, block, MPI_BYTE, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < p * block; i++) wrong += recv[i] != (char)(16 * (i / block) + me);
    return wrong;
}

int main(int count, char **words) {
    int p, me, wrong = 0;
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    size_t bytes = (size_t)p * block;
    char *heap = malloc(2 * bytes), *far = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    wrong += exchange(me == 0 ? far : heap, heap + bytes, p, me);
    void *driver = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    enum { registered = 1, device = 2 };
    void (*pretend)(const void *, size_t, int) =
        (void (*)(const void *, size_t, int))dlsym(driver, "pretend");
    pretend(far, bytes, device);
    for (int i = 0; i < 10; i++)
        wrong += exchange(me == 0 && i % 2 ? far : heap, me == 0 && i % 2 == 0 ? far : heap + bytes,
                          p, me);
    pretend(far, bytes, registered);
    for (int i = 0; i < 4; i++) wrong += exchange(me == 0 ? far : heap, heap + bytes, p, me);
    MPI_Finalize();
    if (wrong) fprintf(stderr, "rank %d: %d bytes are wrong\n", me, wrong);
    return wrong != 0;
}
