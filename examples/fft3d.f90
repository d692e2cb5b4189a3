! SPDX-License-Identifier: BSD-3-Clause
! fft3d - fft3d.c in Fortran: the NAS Parallel Benchmark FT. The spectrum of a field of complex numbers decays from iteration to
! iteration; each time it is transformed back, and a checksum of the field is taken and compared. FFTW transforms the lines of one
! direction after the other; in between the grid is transposed (pencils.f90). Options and output are those of fft3d.c. What the
! benchmark starts with and what must come out it has from ft.c.
program fft3d
   use, intrinsic :: iso_fortran_env, only: error_unit
   use mpi
   use ft
   use pencils
   implicit none
   integer, parameter :: width = 8 ! lines of a bundle, side by side in x
   type table
      real(c_double), allocatable :: of(:)
   end type
   character :: class = 'S'
   logical :: slab = .true., subarrays = .false.
   integer :: n(3), iterations, wrong = 0, error
   double precision :: seconds
   type(grid) :: g
   type(c_ptr) :: plan(3, 2) ! x: all lines of the field; y, z: a bundle
   type(table) :: decay(3)
   complex(dp), pointer, contiguous :: spectrum(:), bundle(:, :)

   call MPI_Init(error)
   call read_words()
   call grid_new(g, n, slab, subarrays)
   call prepare()
   call run()
   call print_line()
   call end_all()
   call MPI_Finalize(error)
   if (wrong > 0) call quit(1)

contains

   subroutine stop_here(why, what)
      character(*), intent(in) :: why, what
      integer :: me
      call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
      if (me == 0 .and. what == '') write(error_unit, '(a)') 'fft3d: ' // why // 'nothing'
      if (me == 0 .and. what /= '') write(error_unit, '(a)') 'fft3d: ' // why // trim(what)
      call MPI_Finalize(error)
      call quit(2)
   end subroutine

   subroutine read_words()
      character(64) :: word, value
      integer :: i, asked, failed
      asked = 0
      i = 1
      do while (i <= command_argument_count())
         call get_command_argument(i, word)
         value = ''
         if (i < command_argument_count()) call get_command_argument(i + 1, value)
         i = i + 2
         select case (word)
         case ('--types')
            subarrays = .true.
            i = i - 1
         case ('--iterations')
            read(value, '(i64)', iostat=failed) asked
            if (failed /= 0 .or. asked < 1 .or. asked > 1000000) &
               call stop_here('--iterations: expected a number from 1 to 1000000, not ', value)
         case ('--class')
            if (len_trim(value) /= 1 .or. scan(value, 'SWAB') /= 1) call stop_here('--class: expected S, W, A or B, not ', value)
            class = value(1:1)
         case ('--decomposition')
            slab = value == 'slab'
            if (.not. slab .and. value /= 'pencil') call stop_here('--decomposition: expected slab or pencil, not ', value)
         case default
            call stop_here('usage: [--class S|W|A|B] [--decomposition slab|pencil] [--types] [--iterations I], not ', word)
         end select
      end do
      error = ft_class(class, n, iterations)
      if (asked > 0) iterations = asked
   end subroutine

   type(c_ptr) function plan_lines(whole, sign) result(lines)
      integer, intent(in) :: whole, sign
      if (whole == 1) then
         lines = fftw_plan_many_dft(1, n(1:1), product(g%box(1)%size(2:3)), g%field, n(1:1), 1, n(1), g%field, n(1:1), 1, n(1), &
            sign, FFTW_ESTIMATE)
      else
         lines = fftw_plan_many_dft(1, n(whole:whole), width, bundle, n(whole:whole), width, 1, bundle, n(whole:whole), width, 1, &
            sign, FFTW_ESTIMATE)
      end if
   end function

   subroutine prepare()
      integer :: k, i
      spectrum => grid_memory(g)
      call c_f_pointer(fftw_alloc_complex(int(width * maxval(n(2:3)), c_size_t)), bundle, [width, maxval(n(2:3))])
      do k = 1, 3
         plan(k, forth) = plan_lines(k, FFTW_FORWARD)
         plan(k, back) = plan_lines(k, FFTW_BACKWARD)
         decay(k)%of = [(ft_decay(i, n(k)), i = 0, n(k) - 1)]
      end do
   end subroutine

   ! The field as it is at first.
   subroutine start()
      integer :: y, z, place
      place = 1
      associate (b => g%box(1))
         do z = b%first(3), b%first(3) + b%size(3) - 1
            do y = b%first(2), b%first(2) + b%size(2) - 1
               call ft_start((int(z, c_long_long) * n(2) + y) * n(1), n(1), g%field(place:))
               place = place + n(1)
            end do
         end do
      end associate
   end subroutine

   ! Transforms all lines of that direction, in which they are whole. The points of a line along y or z lie far from each other in
   ! memory: bundles of lines are copied to where they lie closely.
   subroutine lines(b, field, way, whole)
      type(box), intent(in) :: b
      integer, intent(in) :: way, whole
      complex(dp), intent(inout) :: field(b%size(1), b%size(2), b%size(3))
      integer :: i, x, last, k
      if (whole == 1) then
         call fftw_execute_dft(plan(1, way), field, field)
         return
      end if
      do i = 1, b%size(5 - whole)
         do x = 1, b%size(1), width
            last = min(x + width - 1, b%size(1))
            k = last - x + 1
            if (whole == 2) bundle(:k, :n(2)) = field(x:last, :, i)
            if (whole == 3) bundle(:k, :n(3)) = field(x:last, i, :)
            call fftw_execute_dft(plan(whole, way), bundle, bundle)
            if (whole == 2) field(x:last, :, i) = bundle(:k, :n(2))
            if (whole == 3) field(x:last, i, :) = bundle(:k, :n(3))
         end do
      end do
   end subroutine

   ! From the field, whose lines along x are whole, to the spectrum, whose lines along z are; or back.
   subroutine transform(way)
      integer, intent(in) :: way
      call lines(g%box(merge(1, 3, way == forth)), g%field, way, merge(1, 3, way == forth))
      call grid_transpose(g, merge(1, 2, way == forth), way)
      call lines(g%box(2), g%field, way, 2)
      call grid_transpose(g, merge(2, 1, way == forth), way)
      call lines(g%box(merge(3, 1, way == forth)), g%field, way, merge(3, 1, way == forth))
   end subroutine

   ! The next spectrum, and a copy of it where the field will be.
   subroutine evolve(b, spectrum, field)
      type(box), intent(in) :: b
      complex(dp), intent(inout) :: spectrum(b%size(1), b%size(2), b%size(3)), field(b%size(1), b%size(2), b%size(3))
      integer :: y, z
      double precision :: yz
      do z = 1, b%size(3)
         do y = 1, b%size(2)
            yz = decay(2)%of(b%first(2) + y) * decay(3)%of(b%first(3) + z)
            spectrum(:, y, z) = spectrum(:, y, z) * (yz * decay(1)%of(b%first(1) + 1:b%first(1) + b%size(1)))
            field(:, y, z) = spectrum(:, y, z)
         end do
      end do
   end subroutine

   complex(dp) function checksum(b, field)
      type(box), intent(in) :: b
      complex(dp), intent(in) :: field(b%size(1), b%size(2), b%size(3))
      complex(dp) :: mine
      real(c_double) :: parts(2)
      integer :: j, at(3)
      mine = 0
      do j = 1, ft_checked
         at = mod([j, 3 * j, 5 * j], n) - b%first + 1
         if (all(at >= 1 .and. at <= b%size)) mine = mine + field(at(1), at(2), at(3))
      end do
      call MPI_Allreduce([mine%re, mine%im], parts, 2, MPI_DOUBLE_PRECISION, MPI_SUM, g%comm, error)
      checksum = cmplx(parts(1), parts(2), dp) / n(1) / n(2) / n(3)
   end function

   ! One transform goes before, without being timed, as the benchmark has it.
   subroutine run()
      complex(dp) :: found
      integer :: i
      call start()
      call transform(forth)
      g%transposing = 0
      g%communicating = 0
      call MPI_Barrier(g%comm, error)
      seconds = MPI_Wtime()
      call start()
      call transform(forth)
      spectrum = g%field
      do i = 1, iterations
         call evolve(g%box(3), spectrum, g%field)
         call transform(back)
         found = checksum(g%box(1), g%field)
         if (ft_right(class, i, found) /= 0) cycle
         wrong = wrong + 1
         if (g%me == 0) write(error_unit, '(a,i0,a,es20.12,sp,es20.12,a)') 'fft3d: iteration ', i, ': wrong checksum ', found, ' i'
      end do
      seconds = MPI_Wtime() - seconds
   end subroutine

   function decimal(value, format) result(text)
      double precision, intent(in) :: value
      character(*), intent(in) :: format
      character(:), allocatable :: text
      character(32) :: digits
      write(digits, format) value
      text = trim(adjustl(digits))
   end function

   subroutine print_line()
      double precision :: slowest(3), all_memory(2)
      call MPI_Reduce([seconds, g%transposing, g%communicating], slowest, 3, MPI_DOUBLE_PRECISION, MPI_MAX, 0, g%comm, error)
      ! Not MPI_Reduce: nobody may give memory back before all have counted theirs.
      call MPI_Allreduce([memory_peak(), memory_share()], all_memory, 2, MPI_DOUBLE_PRECISION, MPI_SUM, g%comm, error)
      if (g%me /= 0) return
      write(*, '(a,a,2(a,i0),a,i0,3(a,i0),a,i0,20a)') 'fft3d class=', class, ' ranks=', g%ranks, ' grid=', g%shape(1), 'x', &
         g%shape(2), ' points=', n(1), 'x', n(2), 'x', n(3), ' iterations=', iterations, &
         ' verification=', trim(merge('failed    ', 'successful', wrong > 0)), ' seconds=', decimal(slowest(1), '(f20.6)'), &
         ' transposes=', decimal(slowest(2), '(f20.6)'), ' communication=', decimal(slowest(3), '(f20.6)'), &
         ' rss=', decimal(all_memory(1), '(f20.1)'), ' pss=', decimal(all_memory(2), '(f20.1)')
   end subroutine

   subroutine end_all()
      integer :: k, way
      do k = 1, 3
         do way = forth, back
            call fftw_destroy_plan(plan(k, way))
         end do
      end do
      call fftw_free(c_loc(spectrum))
      call fftw_free(c_loc(bundle))
      call grid_free(g)
   end subroutine
end program
