! SPDX-License-Identifier: BSD-3-Clause
program mpif
      implicit none
      include 'mpif.h'
      integer :: absolute
      integer :: ring
      include 'fortran.inc'
end program
