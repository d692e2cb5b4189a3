! SPDX-License-Identifier: BSD-3-Clause
! pencils - pencils.h and pencils.c in Fortran: a grid of complex numbers, shared out among the ranks so that the lines of one
! direction are whole, and transposing. The ranks form rows and columns:
!     lines of      x whole               y whole               z whole
!     shared by     y: row, z: column     x: row, z: column     x: row, y: column
! What goes to a rank is packed into a block, and MPI_Alltoall brings the blocks, or MPI_Alltoallv where they differ. With
! subarrays nothing is packed: MPI_Alltoallw gets a subarray of the field for each rank.
module pencils
   use mpi
   use, intrinsic :: iso_c_binding
   implicit none
   include 'fftw3.f03'
   private :: new_side, box_of, common_block, subarray, exchange_blocks, pack_block, unpack_block

   integer, parameter :: dp = c_double_complex, forth = 1, back = 2 ! from x to z, from z to x
   integer, parameter, private :: row = 1, column = 2, nobody = 0

   ! (direction, direction whose lines are whole): which ranks share it; nobody: it is whole.
   integer, parameter, private :: shared_by(3, 3) = reshape([nobody, row, column, row, nobody, column, row, column, nobody], [3, 3])

   ! The points first + 1 ... first + size in each direction.
   type box
      integer :: first(3), size(3)
   end type

   ! One side of a transpose: this rank's box, and for each rank of the row or column the block of it that is exchanged with that
   ! rank. A block's `first` counts from the box's. Counts and places are in points.
   type side
      type(box) :: box
      type(box), allocatable :: block(:)
      integer, allocatable :: count(:), place(:), type(:), types(:) ! types: of type, 1, or 0 where the block is empty
   end type

   type exchange
      integer :: comm, ranks    ! the row, or the column
      logical :: alike          ! all blocks of all ranks have the same size
      type(side) :: side(2)     ! of lower and higher direction
      integer, allocatable :: nowhere(:) ! displacements for MPI_Alltoallw: zeros, the types say where
   end type

   type grid
      integer :: n(3)
      logical :: subarrays
      integer :: ranks, me, shape(2), at(2), comm ! shape: ranks in a row and in a column; this one's place in both
      type(box) :: box(3)             ! this rank's while the lines of that direction are whole
      type(exchange) :: exchanges(2)  ! in a row, x and y; in a column, y and z
      complex(dp), pointer, contiguous :: field(:), spare(:) ! each has room for the largest box
      double precision :: transposing = 0, communicating = 0 ! seconds; the second are those within MPI's calls
   end type

contains

   ! Shares n(k) points in direction k among all ranks. Collective.
   subroutine grid_new(g, n, slab, subarrays)
      type(grid), intent(out) :: g
      integer, intent(in) :: n(3)
      logical, intent(in) :: slab, subarrays
      integer :: error, k
      g%n = n
      g%subarrays = subarrays
      g%shape = 0
      if (slab) g%shape(row) = 1
      call MPI_Comm_size(MPI_COMM_WORLD, g%ranks, error)
      call MPI_Dims_create(g%ranks, 2, g%shape, error)
      call MPI_Cart_create(MPI_COMM_WORLD, 2, g%shape, [.false., .false.], .true., g%comm, error)
      call MPI_Comm_rank(g%comm, g%me, error)
      call MPI_Cart_coords(g%comm, g%me, 2, g%at, error)
      do k = 1, 3
         g%box(k) = box_of(g, k, g%at)
      end do
      do k = row, column
         associate (e => g%exchanges(k))
            e%ranks = g%shape(k)
            e%alike = mod(n(k), e%ranks) == 0 .and. mod(n(k + 1), e%ranks) == 0
            e%side = [new_side(g, k, k, k + 1), new_side(g, k, k + 1, k)]
            e%nowhere = spread(0, 1, e%ranks)
            call MPI_Cart_sub(g%comm, [k == row, k == column], e%comm, error)
         end associate
      end do
      g%field => grid_memory(g)
      g%spare => grid_memory(g)
   end subroutine

   ! Not zeroed; fftw_free gives it back. Ends the program when there is none.
   function grid_memory(g) result(points)
      type(grid), intent(in) :: g
      complex(dp), pointer, contiguous :: points(:)
      integer(c_size_t) :: most
      integer :: k, error
      type(c_ptr) :: room
      most = max(1_c_size_t, maxval([(product(int(g%box(k)%size, c_size_t)), k = 1, 3)]))
      room = fftw_alloc_complex(most)
      if (.not. c_associated(room)) call MPI_Abort(MPI_COMM_WORLD, 1, error)
      call c_f_pointer(room, points, [most])
   end function

   subroutine grid_free(g)
      type(grid), intent(inout) :: g
      integer :: k, s, rank, error
      do k = row, column
         do s = 1, 2
            do rank = 1, g%shape(k)
               call MPI_Type_free(g%exchanges(k)%side(s)%type(rank), error)
            end do
         end do
         call MPI_Comm_free(g%exchanges(k)%comm, error)
      end do
      call fftw_free(c_loc(g%field))
      call fftw_free(c_loc(g%spare))
      call MPI_Comm_free(g%comm, error)
   end subroutine

   ! The box of the rank at that place.
   pure type(box) function box_of(g, whole, at) result(b)
      type(grid), intent(in) :: g
      integer, intent(in) :: whole, at(2)
      integer :: k, by
      do k = 1, 3
         by = shared_by(k, whole)
         if (by == nobody) then
            b%first(k) = 0
            b%size(k) = g%n(k)
         else
            b%first(k) = g%n(k) * at(by) / g%shape(by)
            b%size(k) = g%n(k) * (at(by) + 1) / g%shape(by) - b%first(k)
         end if
      end do
   end function

   ! What is in both, as a block of the first. Of two boxes in a transpose, one is at least as wide in each direction, and has all
   ! of the other.
   pure type(box) function common_block(b, other)
      type(box), intent(in) :: b, other
      integer :: first(3)
      first = max(b%first, other%first)
      common_block%first = first - b%first
      common_block%size = min(b%first + b%size, other%first + other%size) - first
   end function

   ! Each rank's box on one side is made of what it has in common with the boxes of all ranks on the other side.
   type(side) function new_side(g, across, whole, other) result(s)
      type(grid), intent(in) :: g
      integer, intent(in) :: across, whole, other
      integer :: ranks, rank, at(2)
      ranks = g%shape(across)
      allocate(s%block(ranks), s%count(ranks), s%place(ranks), s%type(ranks), s%types(ranks))
      s%box = g%box(whole)
      do rank = 1, ranks
         at = g%at
         at(across) = rank - 1
         s%block(rank) = common_block(s%box, box_of(g, other, at))
         s%count(rank) = product(s%block(rank)%size)
         s%place(rank) = sum(s%count(:rank - 1))
         s%type(rank) = subarray(s%box, s%block(rank))
         s%types(rank) = merge(1, 0, s%count(rank) > 0)
      end do
   end function

   ! MPI has no empty subarrays; what stands for one is not used.
   integer function subarray(b, block) result(type)
      type(box), intent(in) :: b, block
      integer :: error
      if (product(block%size) > 0) then
         call MPI_Type_create_subarray(3, b%size, block%size, block%first, MPI_ORDER_FORTRAN, MPI_DOUBLE_COMPLEX, type, error)
      else
         call MPI_Type_dup(MPI_DOUBLE_COMPLEX, type, error)
      end if
      call MPI_Type_commit(type, error)
   end function

   ! Goes over from g%field with the lines of direction `across` (x or y) whole to one with those of the next direction, or back
   ! from that. Collective among the ranks of the row or column.
   subroutine grid_transpose(g, across, way)
      type(grid), intent(inout) :: g
      integer, intent(in) :: across, way
      complex(dp), pointer, contiguous :: field(:)
      double precision :: begin, called
      integer :: rank, error
      associate (e => g%exchanges(across), from => g%exchanges(across)%side(way), to => g%exchanges(across)%side(3 - way))
         if (e%ranks == 1) return ! both boxes are the same
         begin = MPI_Wtime()
         if (.not. g%subarrays) then
            do rank = 1, e%ranks
               call pack_block(from%box, from%block(rank), g%field, g%spare(from%place(rank) + 1:))
            end do
         end if
         called = MPI_Wtime()
         if (g%subarrays) then
            call MPI_Alltoallw(g%field, from%types, e%nowhere, from%type, g%spare, to%types, e%nowhere, to%type, e%comm, error)
         else
            call exchange_blocks(e, from, to, g%spare, g%field)
         end if
         g%communicating = g%communicating + (MPI_Wtime() - called)
         if (.not. g%subarrays) then
            do rank = 1, e%ranks
               call unpack_block(to%box, to%block(rank), g%spare, g%field(to%place(rank) + 1:))
            end do
         end if
         field => g%field
         g%field => g%spare
         g%spare => field
         g%transposing = g%transposing + (MPI_Wtime() - begin)
      end associate
   end subroutine

   subroutine exchange_blocks(e, from, to, out, in)
      type(exchange), intent(in) :: e
      type(side), intent(in) :: from, to
      complex(dp), intent(in) :: out(*)
      complex(dp), intent(inout) :: in(*)
      integer, parameter :: type = MPI_DOUBLE_COMPLEX
      integer :: error
      if (e%alike) then
         call MPI_Alltoall(out, from%count(1), type, in, to%count(1), type, e%comm, error)
      else
         call MPI_Alltoallv(out, from%count, from%place, type, in, to%count, to%place, type, e%comm, error)
      end if
   end subroutine

   subroutine pack_block(b, block, field, points)
      type(box), intent(in) :: b, block
      complex(dp), intent(in) :: field(b%size(1), b%size(2), b%size(3))
      complex(dp), intent(inout) :: points(block%size(1), block%size(2), block%size(3))
      integer :: last(3)
      last = block%first + block%size
      points = field(block%first(1) + 1:last(1), block%first(2) + 1:last(2), block%first(3) + 1:last(3))
   end subroutine

   subroutine unpack_block(b, block, field, points)
      type(box), intent(in) :: b, block
      complex(dp), intent(inout) :: field(b%size(1), b%size(2), b%size(3))
      complex(dp), intent(in) :: points(block%size(1), block%size(2), block%size(3))
      integer :: last(3)
      last = block%first + block%size
      field(block%first(1) + 1:last(1), block%first(2) + 1:last(2), block%first(3) + 1:last(3)) = points
   end subroutine
end module
