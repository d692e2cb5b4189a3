/* SPDX-License-Identifier: BSD-3-Clause */
/* Preprocessed by Flavours.cmake with a compiler wrapper: whose mpi.h, and of which generation? */
#include <mpi.h>
#if defined OPEN_MPI
WHICH MPI: ompi OMPI_MAJOR_VERSION
#elif defined MPI_ABI_VERSION
WHICH MPI: standard MPI_ABI_VERSION
#elif defined I_MPI_NUMVERSION
WHICH MPI: impi MPICH_NUMVERSION
#elif defined MPICH_NUMVERSION
WHICH MPI: mpich MPICH_NUMVERSION
#endif
