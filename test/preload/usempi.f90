! SPDX-License-Identifier: BSD-3-Clause
program usempi
      use mpi
      implicit none
      integer :: absolute
      include 'fortran.inc'
end program
