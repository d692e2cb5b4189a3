! SPDX-License-Identifier: BSD-3-Clause
! The exchange of statics.c between COMMON and SAVE arrays.
program common
      implicit none
      include 'mpif.h'
      integer, parameter :: n = 1048576, most = 2
      integer :: sent(n, 0:most-1), error, p, me, i, j, k, wrong, total
      integer, save :: received(n, 0:most-1)
      common /buffers/ sent

      call MPI_Init(error)
      call MPI_Comm_size(MPI_COMM_WORLD, p, error)
      call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
      if (p > most) call MPI_Abort(MPI_COMM_WORLD, 2, error)
      wrong = 0
      do k = 1, 3
         do j = 0, p - 1
            do i = 1, n
               sent(i, j) = 20000000 * me + 10000000 * j + i + k
            end do
         end do
         received = -1
         call MPI_Alltoall(sent, n, MPI_INTEGER, received, n, MPI_INTEGER, MPI_COMM_WORLD, error)
         do j = 0, p - 1
            do i = 1, n
               if (received(i, j) /= 20000000 * j + 10000000 * me + i + k) wrong = wrong + 1
            end do
         end do
      end do
      do k = 1, 2
         sent(:, 0) = me + k
         received = -1
         call MPI_Allgather(sent, n, MPI_INTEGER, received, n, MPI_INTEGER, MPI_COMM_WORLD, error)
         do j = 0, p - 1
            if (any(received(:, j) /= j + k)) wrong = wrong + 1
         end do
      end do
      call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
      if (me == 0) print '(i0,a,i0,a)', p, ' ranks, ', total, ' errors'
      call MPI_Finalize(error)
      if (total > 0) stop 1
end program
