! SPDX-License-Identifier: BSD-3-Clause
! untaken - nonblocking calls of a Fortran program: 9 broadcasts and a sum.
program untaken
    use mpi
    implicit none
    integer :: ierror, me, p, i, request, number, total
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, p, ierror)
    do i = 1, 9
        number = 0
        if (me == 0) number = i
        call MPI_Ibcast(number, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierror)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        if (number /= i) error stop 'wrong number'
    end do
    call MPI_Iallreduce(me, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    if (total /= p * (p - 1) / 2) error stop 'wrong sum'
    if (me == 0) print '(i0, a)', p, ' ranks, 0 errors'
    call MPI_Finalize(ierror)
end program
