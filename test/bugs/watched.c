/* SPDX-License-Identifier: BSD-3-Clause */
/* watched - what UCX sees of memory that goes away, by the functions that it overwrites in the C
 * library: a mapping that is unmapped, one that is discarded, stacks of threads that end. Prints
 * how often each is told; -1: this MPI has no UCX. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { unmapped = 1 << 17 /* UCM_EVENT_VM_UNMAPPED */, bytes = 1 << 20, threads = 8, rounds = 20 };

static atomic_int events;

static void tell(int type, void *event, void *state) {
    (void)type, (void)event, (void)state;
    events++;
}

static int find(struct dl_phdr_info *object, size_t size, void *name) {
    (void)size;
    if (!strstr(object->dlpi_name, "libucm")) return 0;
    *(const char **)name = object->dlpi_name;
    return 1;
}

static char *map(void) {
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memset(memory, 1, bytes);
}

static void *nothing(void *unused) { return unused; }

static void end_threads(void) {
    pthread_attr_t attributes;
    pthread_t ids[threads];
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16 << 20); /* so that the C library keeps few of them */
    for (int i = 0; i < threads; i++) pthread_create(&ids[i], &attributes, nothing, NULL);
    for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
}

int main(int argc, char **argv) {
    int me, told[3] = {-1, -1, -1};
    int (*watch)(int, int, void (*)(int, void *, void *), void *) = NULL;
    const char *name = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    dl_iterate_phdr(find, &name);
    void *library = name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol = library ? dlsym(library, "ucm_set_event_handler") : NULL;
    memcpy(&watch, &symbol, sizeof watch);
    if (watch && watch(unmapped, 1000, tell, NULL) == 0) {
        events = 0, munmap(map(), bytes), told[0] = events;
        events = 0, madvise(map(), bytes, MADV_DONTNEED), told[1] = events;
        events = 0;
        for (int i = 0; i < rounds; i++) end_threads();
        told[2] = events;
    }
    if (me == 0) printf("unmapped %d, discarded %d, threads %d\n", told[0], told[1], told[2]);
    MPI_Finalize();
}
