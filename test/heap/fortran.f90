! SPDX-License-Identifier: BSD-3-Clause
! fortran - long arrays come from the region: of ALLOCATE, grown by assignment, character buffers.
program fortran
    use iso_c_binding
    implicit none
    interface
        function fortran_in_region(address) bind(c) result(yes)
            import c_ptr, c_int
            type(c_ptr), value :: address
            integer(c_int) :: yes
        end function
    end interface
    real(8), allocatable, target :: field(:, :), grown(:)
    character(len=:), allocatable, target :: text
    integer :: i
    allocate (field(1000, 1000))
    field = 1.5d0
    allocate (grown(0))
    do i = 1, 20000
        grown = [grown, real(i, 8)]
    end do
    text = repeat('x', 200000)
    if (fortran_in_region(c_loc(field)) /= 1) error stop 'ALLOCATE'
    if (fortran_in_region(c_loc(grown)) /= 1) error stop 'reallocation on assignment'
    if (fortran_in_region(c_loc(text)) /= 1) error stop 'character buffer'
    if (sum(field) /= 1.5d6 .or. sum(grown) /= 200010000d0) error stop 'contents'
end program
