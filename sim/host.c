/* SPDX-License-Identifier: BSD-3-Clause */
/* host - in place of src/reach/host.c: SMPI is linked, and a look-up by name would take each rank
 * through all ranks' copies. */
#include "reach/host.h"

#include "sim.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

struct host host;
bool setting_up;

/* ---- what building a team asks of the host MPI, thousands of ranks at a time: done at once while
 * nothing is measured ---- */

static char *gathered(MPI_Comm comm, const void *data, size_t bytes, bool *first) {
    int ranks, me, lowest = 0, zero = 0;
    MPI_Group group, world;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(comm, &me);
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &zero, world, &lowest);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return world_gather((uint64_t)lowest << 32 | (uint64_t)ranks, ranks, me, data, bytes, first);
}

static int allgather(const void *send, int send_count, MPI_Datatype send_type, void *recv,
                     int recv_count, MPI_Datatype recv_type, MPI_Comm comm) {
    if (!setting_up || send == MPI_IN_PLACE)
        return PMPI_Allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
    int size, ranks;
    bool first;
    PMPI_Type_size(send_type, &size);
    PMPI_Comm_size(comm, &ranks);
    size_t bytes = (size_t)size * (size_t)send_count;
    memcpy(recv, gathered(comm, send, bytes, &first), (size_t)ranks * bytes);
    return MPI_SUCCESS;
}

static int allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) {
    if (!setting_up || send == MPI_IN_PLACE)
        return PMPI_Allreduce(send, recv, count, type, op, comm);
    int size, ranks;
    bool first;
    PMPI_Type_size(type, &size);
    PMPI_Comm_size(comm, &ranks);
    size_t bytes = (size_t)size * (size_t)count;
    char *all = gathered(comm, send, bytes, &first);
    for (int r = 1; r < ranks && first; r++)
        PMPI_Reduce_local(all + (size_t)r * bytes, all, count, type, op);
    memcpy(recv, all, bytes);
    return MPI_SUCCESS;
}

static int bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    if (!setting_up) return PMPI_Bcast(data, count, type, root, comm);
    int size;
    bool first;
    PMPI_Type_size(type, &size);
    size_t bytes = (size_t)size * (size_t)count;
    memcpy(data, gathered(comm, data, bytes, &first) + (size_t)root * bytes, bytes);
    return MPI_SUCCESS;
}

/* As functions, since the names are macros here, which settle what the work so far has cost. */
static int iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    return PMPI_Iprobe(from, tag, comm, flag, status);
}
static int test(MPI_Request *request, int *done, MPI_Status *status) {
    return PMPI_Test(request, done, status);
}
static int testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[]) {
    return PMPI_Testall(count, requests, done, statuses);
}
static int testsome(int count, MPI_Request requests[], int *done, int ready[],
                    MPI_Status statuses[]) {
    return PMPI_Testsome(count, requests, done, ready, statuses);
}

bool host_open(void *library) {
    (void)library;
    host = (struct host){
#define COLLECTIVE(name, symbol, ...) .name = PMPI_##symbol,
#include "coll/collectives.h"
#undef COLLECTIVE
        .errors_return = MPI_ERRORS_RETURN,
        .init = PMPI_Init,
        .init_thread = PMPI_Init_thread,
        .finalize = PMPI_Finalize,
        .alloc_mem = PMPI_Alloc_mem,
        .free_mem = PMPI_Free_mem,
        .type_free = PMPI_Type_free,
        .comm_free = PMPI_Comm_free,
#define MAKER(name, symbol, words, parameters, arguments) .name = PMPI_##symbol,
#include "abi/makers.h"
#undef MAKER
    };
    host.allgather = allgather;
    host.allreduce = allreduce;
    host.bcast = bcast;
    host.iprobe = iprobe;
    host.test = test;
    host.testall = testall;
    host.testsome = testsome;
    host.many_threads = true;
    return true;
}

void host_begin(void) {}

int host_combine(const void *mine, void *all, int words, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm) {
    return host.allreduce(mine, all, words, type, op, comm);
}
