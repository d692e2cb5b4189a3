/* SPDX-License-Identifier: BSD-3-Clause */
/* lives - communicators are made, used, and freed. */
#include "communicators.h"

#include <stdlib.h>

bool life_open(struct life *life, size_t bytes) {
    size_t count = bytes / sizeof(double), all = count * (size_t)life->world->p;
    life->count = (int)count;
    life->send = calloc(all, sizeof(double)), life->recv = calloc(all, sizeof(double));
    life->sum = calloc(count, sizeof(double));
    if (meet_max(!life->send || !life->recv || !life->sum) == 0) return true;
    life_close(life);
    return false;
}

void life_close(struct life *life) {
    free(life->send);
    free(life->recv);
    free(life->sum);
}

/* The last allreduce and the last alltoall have left what they must. */
static long mistakes(const struct life *life, int p) {
    long wrong = 0;
    for (int i = 0; i < life->count; i++) wrong += life->sum[i] != p * (i + 1.0);
    for (int k = 0; k < p * life->count && life->calls > 1; k++)
        wrong += life->recv[k] != k % life->count + 1.0;
    return wrong;
}

/* Cheap beside the calls that follow: contents by place, and no results of an earlier life. */
static void fill(const struct life *life, int p) {
    for (int k = 0; k < p * life->count; k++)
        life->send[k] = k % life->count + 1.0, life->recv[k] = 0;
    life->sum[0] = 0;
}

static long one(const struct life *life, const struct maker *maker) {
    MPI_Comm comm;
    int p = life->world->p, me = life->world->me;
    if (life->group) {
        maker->comm_split(MPI_COMM_WORLD, me / life->group, me, &comm);
        MPI_Comm_size(comm, &p);
    } else maker->comm_dup(MPI_COMM_WORLD, &comm);
    fill(life, p);
    for (long call = 0; call < life->calls; call++)
        if (call % 2 == 0)
            maker->functions->allreduce(life->send, life->sum, life->count, MPI_DOUBLE, MPI_SUM,
                                        comm);
        else
            maker->functions->alltoall(life->send, life->count, MPI_DOUBLE, life->recv, life->count,
                                       MPI_DOUBLE, comm);
    maker->comm_free(&comm);
    return mistakes(life, p);
}

double live(const struct life *life, const struct maker *maker, long communicators, long *wrong) {
    meet();
    double start = clock_seconds();
    for (long i = 0; i < communicators; i++) *wrong += one(life, maker);
    return meet_max(clock_seconds() - start) / (double)communicators;
}
