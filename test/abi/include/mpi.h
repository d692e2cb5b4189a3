/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h of the standard ABI, where an MPI has it under its other name only. */
#include <mpi_abi.h>
