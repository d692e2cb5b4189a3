/* SPDX-License-Identifier: BSD-3-Clause */
/* stub - a plug-in with MPI functions of its own, as serial builds of LAMMPS and MUMPS bring them.
 * WHOSE: what they add to all data. */
#include <stdbool.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Bcast(void *data, int count, int type, int root, int comm);
int MPI_Iprobe(int source, int tag, int comm, int *found, void *status);
int MPI_Ibcast(void *data, int count, int type, int root, int comm, int *request);
int MPI_Wait(int *request, void *status);
int MPI_Test(int *request, int *flag, void *status);
int PMPI_Barrier(int comm);
bool begins(void);
int jumps(int *data);
bool runs(void);

static int barriers;

int MPI_Init(int *argc, char ***argv) { return (void)argc, (void)argv, 0; }
int MPI_Finalize(void) { return 0; }
int MPI_Bcast(void *data, int count, int type, int root, int comm) {
    (void)count, (void)type, (void)root, (void)comm;
    *(int *)data += WHOSE;
    return WHOSE;
}
int MPI_Iprobe(int source, int tag, int comm, int *found, void *status) {
    (void)source, (void)tag, (void)comm, (void)status;
    *found = WHOSE;
    return 0;
}
int MPI_Ibcast(void *data, int count, int type, int root, int comm, int *request) {
    *request = WHOSE;
    return MPI_Bcast(data, count, type, root, comm) - WHOSE;
}
int MPI_Wait(int *request, void *status) { return (void)status, *request -= WHOSE; }
int MPI_Test(int *request, int *flag, void *status) {
    *flag = *request;
    *request -= WHOSE;
    return (void)status, 0;
}
int PMPI_Barrier(int comm) { return barriers++, comm; }

/* Compilers make jumps of these calls. */
__attribute__((optimize("O2"))) int jumps(int *data) { return MPI_Bcast(data, 1, 0, 0, 0); }

bool begins(void) { return MPI_Init(0, 0) == 0; }

bool runs(void) {
    int data = 1, found = 0, request = 0, before = barriers;
    bool fine = MPI_Bcast(&data, 1, 0, 0, 0) == WHOSE && data == 1 + WHOSE;
    fine = fine && MPI_Iprobe(0, 0, 0, &found, 0) == 0 && found == WHOSE;
    fine = fine && MPI_Ibcast(&data, 1, 0, 0, 0, &request) == 0 && request == WHOSE;
    fine = fine && MPI_Wait(&request, 0) == 0 && data == 1 + 2 * WHOSE;
    request = WHOSE;
    fine = fine && MPI_Test(&request, &found, 0) == 0 && found == WHOSE && request == 0;
    return fine && PMPI_Barrier(7) == 7 && barriers == before + 1;
}
