/* SPDX-License-Identifier: BSD-3-Clause */
/* fakeuser - a program of the library in fake.c. */
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Alltoall(const void *send, int send_count, int send_type, void *recv, int recv_count,
                 int recv_type, int comm);

int main(int argc, char **argv) {
    int send = 17, recv = 0;
    MPI_Init(&argc, &argv);
    MPI_Alltoall(&send, 1, sizeof send, &recv, 1, sizeof recv, 0);
    MPI_Alltoall(&send, 1, sizeof send, &recv, 1, sizeof recv, 0);
    MPI_Finalize();
    printf("received %d\n", recv);
    return recv != 17;
}
