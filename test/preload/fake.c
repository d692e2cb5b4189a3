/* SPDX-License-Identifier: BSD-3-Clause */
/* fake - an MPI library that nobody knows (libmpi.so.99), of one rank: enough to call an
 * alltoall. */
#include <string.h>

int PMPI_Init(int *argc, char ***argv);
int PMPI_Finalize(void);
int PMPI_Alltoall(const void *send, int send_count, int send_type, void *recv, int recv_count,
                  int recv_type, int comm);
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Alltoall(const void *send, int send_count, int send_type, void *recv, int recv_count,
                 int recv_type, int comm);

int PMPI_Init(int *argc, char ***argv) { return (void)argc, (void)argv, 0; }
int PMPI_Finalize(void) { return 0; }
int PMPI_Alltoall(const void *send, int send_count, int send_type, void *recv, int recv_count,
                  int recv_type, int comm) {
    (void)recv_count, (void)recv_type, (void)comm;
    memcpy(recv, send, (size_t)send_count * (size_t)send_type); /* its types are sizes */
    return 0;
}
int MPI_Init(int *argc, char ***argv) { return PMPI_Init(argc, argv); }
int MPI_Finalize(void) { return PMPI_Finalize(); }
int MPI_Alltoall(const void *send, int send_count, int send_type, void *recv, int recv_count,
                 int recv_type, int comm) {
    return PMPI_Alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm);
}
