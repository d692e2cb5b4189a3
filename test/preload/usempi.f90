! SPDX-License-Identifier: BSD-3-Clause
program usempi
      use mpi
      implicit none
      integer :: absolute
      integer :: ring
      include 'fortran.inc'
end program
