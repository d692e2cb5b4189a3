/* SPDX-License-Identifier: BSD-3-Clause */
/* removed.h - included before everything else in MPICH's tests: Open MPI 4 declares what MPI 3
 * removed so that its use is an error, unless it is told otherwise. The library still has it. */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#define __mpi_interface_removed__(function, instead)
