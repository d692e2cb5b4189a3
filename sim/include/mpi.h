/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h - SMPI's, for mortar's sources. Before a message is sent or waited for, the time passes
 * that was charged until then. */
#ifndef MORTAR_SIM_MPI_H
#define MORTAR_SIM_MPI_H

#define option smpi_option /* of getopt, which SMPI's header brings along */
#include <smpi/mpi.h>
#undef option

#include "base/charge.h"

#define PMPI_Isend(...) (charge_settle(), PMPI_Isend(__VA_ARGS__))
#define PMPI_Irecv(...) (charge_settle(), PMPI_Irecv(__VA_ARGS__))
#define PMPI_Send(...) (charge_settle(), PMPI_Send(__VA_ARGS__))
#define PMPI_Recv(...) (charge_settle(), PMPI_Recv(__VA_ARGS__))
#define PMPI_Sendrecv(...) (charge_settle(), PMPI_Sendrecv(__VA_ARGS__))
#define PMPI_Wait(...) (charge_settle(), PMPI_Wait(__VA_ARGS__))
#define PMPI_Waitany(...) (charge_settle(), PMPI_Waitany(__VA_ARGS__))
#define PMPI_Waitsome(...) (charge_settle(), PMPI_Waitsome(__VA_ARGS__))
#define PMPI_Waitall(...) (charge_settle(), PMPI_Waitall(__VA_ARGS__))
#define PMPI_Test(...) (charge_settle(), PMPI_Test(__VA_ARGS__))
#define PMPI_Testany(...) (charge_settle(), PMPI_Testany(__VA_ARGS__))
#define PMPI_Testsome(...) (charge_settle(), PMPI_Testsome(__VA_ARGS__))
#define PMPI_Testall(...) (charge_settle(), PMPI_Testall(__VA_ARGS__))
#define PMPI_Start(...) (charge_settle(), PMPI_Start(__VA_ARGS__))
#define PMPI_Startall(...) (charge_settle(), PMPI_Startall(__VA_ARGS__))
#define PMPI_Iprobe(...) (charge_settle(), PMPI_Iprobe(__VA_ARGS__))

#endif
