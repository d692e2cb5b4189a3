! SPDX-License-Identifier: BSD-3-Clause
! ft - what ft.h and memory.h declare, for Fortran.
module ft
   use, intrinsic :: iso_c_binding
   implicit none
   integer, parameter :: ft_checked = 1024

   interface
      integer(c_int) function ft_class(class, n, iterations) bind(C)
         import :: c_char, c_int
         character(kind=c_char), value :: class
         integer(c_int), intent(out) :: n(3), iterations
      end function

      subroutine ft_start(first, count, points) bind(C)
         import :: c_long_long, c_int, c_double_complex
         integer(c_long_long), value :: first
         integer(c_int), value :: count
         complex(c_double_complex), intent(out) :: points(count)
      end subroutine

      real(c_double) function ft_decay(k, n) bind(C)
         import :: c_int, c_double
         integer(c_int), value :: k, n
      end function

      integer(c_int) function ft_right(class, iteration, checksum) bind(C)
         import :: c_char, c_int, c_double_complex
         character(kind=c_char), value :: class
         integer(c_int), value :: iteration
         complex(c_double_complex), value :: checksum
      end function

      real(c_double) function memory_peak() bind(C)
         import :: c_double
      end function

      real(c_double) function memory_share() bind(C)
         import :: c_double
      end function

      ! Ends the program with that exit code. (Fortran's STOP also says so, on every rank.)
      subroutine quit(code) bind(C, name='exit')
         import :: c_int
         integer(c_int), value :: code
      end subroutine
   end interface
end module
