/* SPDX-License-Identifier: BSD-3-Clause */
/* pinned - memory whose pages somebody goes on to use must not move into shared memory while
 * collectives use it as well: that of windows, which an MPI library may register with an adapter
 * (argv[1]: create, attach, allocate), and that which a GPU's driver has registered (argv[1]: the
 * path of a stand-in for it). It may once that has ended, and other memory may meanwhile.
 * usage: pinned KIND, or pinned BLOCKS: so many are attached, and detached in the same order. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ints = 64 << 10, rounds = 60, registered = 1 };

static int me, p, errors;
static MPI_Win win = MPI_WIN_NULL;
static void (*pretend)(const void *, size_t, int);

/* What is mapped at this address: its protection and its file. */
static void mapped(const void *address, char text[100]) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[500];
    strcpy(text, "nothing");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        char mode[5], inode[32];
        if (sscanf(line, "%lx-%lx %4s %*s %*s %31s", &start, &end, mode, inode) != 4) continue;
        if ((unsigned long)address < start || (unsigned long)address >= end) continue;
        snprintf(text, 100, "%s %s", mode, inode);
    }
    if (maps) fclose(maps);
}

static void expect(int right, const char *what) {
    if (!right && errors++ < 3) printf("rank %d: %s\n", me, what);
}

static void use(int *send, int *recv) {
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < ints; i++) send[i] = i + me + round;
        MPI_Allreduce(send, recv, ints, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        int wrong = 0;
        for (int i = 0; i < ints; i++) wrong += recv[i] != p * (i + round) + p * (p - 1) / 2;
        expect(!wrong, "wrong sums");
    }
}

/* Each rank writes into its neighbour's window; a window's pages may be the old ones. */
static void put(const int *memory, MPI_Aint at) {
    int value = 1000 + me, last = ints - 1;
    MPI_Aint theirs = at;
    MPI_Sendrecv(&at, 1, MPI_AINT, (me + p - 1) % p, 0, &theirs, 1, MPI_AINT, (me + 1) % p, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    theirs += last * (MPI_Aint)sizeof(int);
    MPI_Put(&value, 1, MPI_INT, (me + 1) % p, theirs, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    expect(memory[last] == 1000 + (me + p - 1) % p, "a value did not arrive in the window");
}

static int *expose(const char *kind, int *memory, MPI_Aint *at) {
    static char more[64];
    size_t bytes = ints * sizeof(int);
    *at = 0;
    if (strcmp(kind, "create") == 0) {
        MPI_Win_create(memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else if (strcmp(kind, "allocate") == 0) {
        MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    } else if (strcmp(kind, "attach") == 0) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, memory, (MPI_Aint)bytes);
        MPI_Win_attach(win, more, sizeof more); /* detached by MPI_Win_free */
        MPI_Get_address(memory, at);
    } else {
        void *driver = dlopen(kind, RTLD_NOW | RTLD_LOCAL);
        if (driver) *(void **)&pretend = dlsym(driver, "pretend");
        if (!pretend) printf("%s\n", dlerror()), exit(2);
        pretend(memory + ints / 2, bytes / 4, registered); /* a part of it, in the middle */
    }
    return memory;
}

static void blocks(int count) {
    enum { bytes = 64 };
    char *memory = malloc((size_t)count * bytes);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < count; i++) MPI_Win_attach(win, memory + (size_t)i * bytes, bytes);
    for (int i = 0; i < count; i++) MPI_Win_detach(win, memory + (size_t)i * bytes);
    MPI_Win_free(&win);
    free(memory);
}

int main(int argc, char **argv) {
    int all = 0, shared[3] = {0}, sums[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (argc > 1 && atoi(argv[1]) > 0) {
        blocks(atoi(argv[1]));
        printf("rank %d is done\n", me);
        return MPI_Finalize();
    }
    int *own = malloc(ints * sizeof *own), *recv = malloc(ints * sizeof *recv);
    MPI_Aint at;
    const char *kind = argc > 1 ? argv[1] : "create";
    int *memory = expose(kind, own, &at), *middle = memory + ints / 2;
    char before[100], after[100], control[100];
    mapped(middle, before);
    use(memory, recv);
    use(recv, memory);
    mapped(middle, after);
    mapped(recv + ints / 2, control);
    expect(strcmp(before, after) == 0, "the memory has moved");
    if (win != MPI_WIN_NULL) put(memory, at);
    shared[0] = strchr(control, 's') != NULL;
    shared[1] = strchr(after, 's') != NULL;
    if (strcmp(kind, "attach") == 0) MPI_Win_detach(win, memory);
    if (win != MPI_WIN_NULL) MPI_Win_free(&win);
    if (pretend) pretend(NULL, 0, registered);
    for (int again = 0; again < 3; again++) use(own, recv); /* it is asked for more seldom now */
    mapped(own + ints / 2, after);
    shared[2] = strchr(after, 's') != NULL;
    MPI_Reduce(shared, sums, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("%d errors; shared: other %d, meanwhile %d, afterwards %d\n", all, sums[0], sums[1],
               sums[2]);
    free(own);
    free(recv);
    MPI_Finalize();
    return errors != 0;
}
