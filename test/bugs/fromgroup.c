/* SPDX-License-Identifier: BSD-3-Clause */
/* fromgroup - MPI_Comm_create_from_group and MPI_Comm_idup_with_info, looked up as mpi4py does:
 * where mortar shows these names the calls have to work, although libraries of MPI 3 have none. All
 * ranks, then those of an even number, twice, under another tag, and none. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int (*create)(MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *);

static int use(MPI_Group group, const char *tag, int ranks) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int p = 0, sum = 0, one = 1;
    create(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_size(comm, &p);
    MPI_Comm_get_errhandler(comm, &handler);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    return p != ranks || sum != ranks || handler != MPI_ERRORS_RETURN;
}

static int (*dup)(MPI_Comm, MPI_Info, MPI_Comm *, MPI_Request *);

static int use_dup(int ranks) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request request;
    int sum = 0, one = 1;
    dup(MPI_COMM_WORLD, MPI_INFO_NULL, &comm, &request);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* before it is there */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int k = 0; k < 3; k++) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    return sum != ranks;
}

static int use_none(void) {
    MPI_Comm comm = MPI_COMM_WORLD;
    create(MPI_GROUP_EMPTY, "org.example.none", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    return comm != MPI_COMM_NULL;
}

int main(int count, char **words) {
    int me, p, errors = 0, total, *even;
    MPI_Group world, half;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    *(void **)&create = dlsym(RTLD_DEFAULT, "MPI_Comm_create_from_group");
    *(void **)&dup = dlsym(RTLD_DEFAULT, "MPI_Comm_idup_with_info");
    even = malloc((size_t)p * sizeof *even);
    for (int i = 0; i < p; i++) even[i] = 2 * i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, (p + 1) / 2, even, &half);
    if (create) errors += use(world, "org.example.all", p);
    for (int k = 0; k < 2 && create && me % 2 == 0; k++)
        errors += use(half, k ? "org.example.again" : "org.example.half", (p + 1) / 2);
    if (create) errors += use_none();
    if (dup) errors += use_dup(p);
    MPI_Group_free(&half);
    MPI_Group_free(&world);
    free(even);
    MPI_Allreduce(&errors, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors%s\n", p, total, create ? "" : ", no such call");
    MPI_Finalize();
    return total != 0;
}
