! SPDX-License-Identifier: BSD-3-Clause
! statics - COMMON, SAVE and module arrays move, and keep their contents.
module kept
    use iso_c_binding
    implicit none
    real(8), target :: field(300, 300) = 2.5d0
    real(8), target :: blank(2000, 2000)
end module

program statics
    use iso_c_binding
    use kept
    implicit none
    interface
        function fortran_moves(address, bytes) bind(c) result(yes)
            import c_ptr, c_int, c_size_t
            type(c_ptr), value :: address
            integer(c_size_t), value :: bytes
            integer(c_int) :: yes
        end function
    end interface
    integer, target :: block(1000000)
    common /shared/ block
    real(8), save, target :: saved(100000)
    integer :: i
    if (fortran_moves(c_loc(block), 4000000_c_size_t) /= 1) error stop 'COMMON'
    if (fortran_moves(c_loc(saved), 800000_c_size_t) /= 1) error stop 'SAVE'
    if (fortran_moves(c_loc(field), 720000_c_size_t) /= 1) error stop 'initialised module array'
    if (fortran_moves(c_loc(blank), 32000000_c_size_t) /= 1) error stop 'module array'
    if (sum(field) /= 225000d0 .or. sum(blank) /= 0d0) error stop 'contents at the beginning'
    block = [(i, i = 1, 1000000)]
    saved = 0.5d0
    blank = 1
    if (sum(int(block, 8)) /= 500000500000_8 .or. sum(saved) /= 50000d0 .or. sum(blank) /= 4d6) error stop 'contents'
end program
