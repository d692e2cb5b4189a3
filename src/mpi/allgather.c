/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather and its large-count form. Fortran arrives here too. */
#include "mpi/calls.h"

static int native(const struct exchange *e) {
#if MPI_VERSION >= 4
    if (e->send_count > INT32_MAX || e->recv_count > INT32_MAX)
        return host.allgather_c(e->send, e->send_count, e->send_type, e->recv, e->recv_count, e->recv_type, e->comm);
#endif
    return host.allgather(e->send, (int)e->send_count, e->send_type, e->recv, (int)e->recv_count, e->recv_type, e->comm);
}

int MPI_Allgather(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count, MPI_Datatype recv_type,
                  MPI_Comm comm) {
    return exchange(&(struct exchange){COLL_allgather, send, send_count, send_type, recv, recv_count, recv_type, comm, native});
}

#if MPI_VERSION >= 4
int MPI_Allgather_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                    MPI_Datatype recv_type, MPI_Comm comm) {
    return exchange(&(struct exchange){COLL_allgather, send, send_count, send_type, recv, recv_count, recv_type, comm, native});
}
#endif
