! SPDX-License-Identifier: BSD-3-Clause
program f08
      use mpi_f08
      implicit none
      type(MPI_Datatype) :: absolute
      type(MPI_Comm) :: ring
      include 'fortran.inc'
end program
