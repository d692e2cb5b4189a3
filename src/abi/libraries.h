/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI libraries that mortar knows, by the names that they have for the dynamic linker:
 * LIBRARY(soname, ABI, whose). If several are loaded, the first row is the program's: below a
 * library with the standard ABI another may lie. */
LIBRARY("libmpi_abi.so.1", standard, "the standard ABI, MPI 5")
LIBRARY("libmpi.so.40", ompi, "Open MPI 4, 5; 3 is not tested")
LIBRARY("libmpich.so.12", mpich, "MPICH as Debian names it")
LIBRARY("libmpi.so.12", mpich, "MPICH, Intel MPI; MVAPICH is not tested")
