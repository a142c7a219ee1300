! SPDX-License-Identifier: BSD-3-Clause
! G10: faults that users have reported of one-sided communication in Fortran, by mpi_f08 (-DBY_F08), by
! `use mpi` (-DBY_MODULE) or by mpif.h. The name of a test begins with the number of a report; an
! argument is a part of the names of the tests that run. The comment of a test ends with the fault that
! was found. Any number of ranks from 2.
#ifdef BY_F08
#define HANDLE(kind) type(kind)
#define BUFFER asynchronous
#else
#define HANDLE(kind) integer
#define BUFFER volatile
#endif

module reports
#if defined(BY_F08)
  use mpi_f08
#elif defined(BY_MODULE)
  use mpi
#endif
  implicit none
#if !defined(BY_F08) && !defined(BY_MODULE)
  include 'mpif.h'
#endif
  integer, parameter :: kind_of_address = MPI_ADDRESS_KIND
  integer(kind_of_address), parameter :: at_begin = 0
  integer :: rank, ranks, left, right, count_of_tests = 0
  character(60) :: wanted = ''
contains
  logical function runs(name)
    character(*), intent(in) :: name
    runs = index(name, trim(wanted)) > 0
    if (runs) count_of_tests = count_of_tests + 1
  end function

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    integer :: ierror
    if (holds) return
    print '(a, i0, 2a)', 'FAILED: rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  ! A wait for the request of a get ends when the data are there. The data came later.
  subroutine waits_for_gets()
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Request) :: request, requests(4)
    integer, BUFFER :: memory(100), got(100)
    integer :: i, first, ierror
    memory = rank
    got = -1
    call MPI_Win_create(memory, 400_kind_of_address, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Win_lock_all(0, win, ierror)
    call MPI_Rget(got, 100, MPI_INTEGER, right, at_begin, 100, MPI_INTEGER, win, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call check(all(got == right), 'MPI_Wait completes a get')
    got = -1
    do i = 1, 4
      first = 25 * (i - 1) + 1
      call MPI_Rget(got(first), 25, MPI_INTEGER, left, int(first - 1, kind_of_address), 25, MPI_INTEGER, &
                    win, requests(i), ierror)
    end do
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
    call check(all(got == left), 'MPI_Waitall completes gets')
    call MPI_Win_unlock_all(win, ierror)
    call MPI_Win_free(win, ierror)
  end subroutine

  ! All ranks add to rank 0 what Fortran has and C has not. Sums were wrong.
  subroutine logicals_and_complex()
    HANDLE(MPI_Win) :: of_logicals, of_complex
    logical, BUFFER :: flags(2), own_flags(2)
    complex(kind(1d0)), BUFFER :: sums(3), own(3)
    integer :: ierror
    flags = [.true., .false.]
    own_flags = [rank /= 1, rank == 1]
    sums = (0d0, 0d0)
    own = [(1d0, 2d0), (0d0, -1d0), (0.5d0, 0d0)]
    call MPI_Win_create(flags, 8_kind_of_address, 4, MPI_INFO_NULL, MPI_COMM_WORLD, of_logicals, ierror)
    call MPI_Win_create(sums, 48_kind_of_address, 16, MPI_INFO_NULL, MPI_COMM_WORLD, of_complex, ierror)
    call MPI_Win_fence(0, of_logicals, ierror)
    call MPI_Win_fence(0, of_complex, ierror)
    call MPI_Accumulate(own_flags(1), 1, MPI_LOGICAL, 0, at_begin, 1, MPI_LOGICAL, MPI_LAND, &
                        of_logicals, ierror)
    call MPI_Accumulate(own_flags(2), 1, MPI_LOGICAL, 0, at_begin + 1, 1, MPI_LOGICAL, MPI_LOR, &
                        of_logicals, ierror)
    call MPI_Accumulate(own, 3, MPI_DOUBLE_COMPLEX, 0, at_begin, 3, MPI_DOUBLE_COMPLEX, MPI_SUM, &
                        of_complex, ierror)
    call MPI_Win_fence(0, of_logicals, ierror)
    call MPI_Win_fence(0, of_complex, ierror)
    if (rank == 0) then
      call check(.not. flags(1), 'MPI_LAND of logicals')
      call check(flags(2), 'MPI_LOR of logicals')
      call check(all(sums == ranks * own), 'MPI_SUM of complex numbers')
    end if
    call MPI_Win_free(of_logicals, ierror)
    call MPI_Win_free(of_complex, ierror)
  end subroutine

  ! A section of an array on both sides, as a datatype. Other elements were changed.
  subroutine sections()
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Datatype) :: row
    real(kind(1d0)), BUFFER :: there(6, 8), here(6, 8)
    integer :: ierror
    there = -1
    here = rank
    call MPI_Type_vector(8, 1, 6, MPI_DOUBLE_PRECISION, row, ierror)
    call MPI_Type_commit(row, ierror)
    call MPI_Win_create(there, 384_kind_of_address, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call MPI_Put(here(2, 1), 1, row, right, at_begin + 3, 1, row, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call check(all(there(4, :) == left), 'a row of an array arrives')
    call check(all(there(:3, :) == -1) .and. all(there(5:, :) == -1), 'other rows stay')
    call MPI_Get(here(5, 1), 1, row, right, at_begin + 3, 1, row, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call check(all(here(5, :) == rank), 'a row of an array is read')
    call check(all(here(:4, :) == rank) .and. all(here(6, :) == rank), 'other rows stay')
    call MPI_Type_free(row, ierror)
    call MPI_Win_free(win, ierror)
  end subroutine

  ! Sums of the longest reals. They were wrong.
  subroutine longest_reals()
    HANDLE(MPI_Win) :: win
    real(16), BUFFER :: sums(2), own(2)
    integer :: ierror
    sums = 0
    own = [1 + epsilon(1._16), 1 / 3._16]
    call MPI_Win_create(sums, 32_kind_of_address, 16, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call MPI_Accumulate(own, 2, MPI_REAL16, 0, at_begin, 2, MPI_REAL16, MPI_SUM, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    if (rank == 0) then
      call check(all(abs(sums - ranks * own) <= 4 * ranks * epsilon(1._16)), 'MPI_SUM of MPI_REAL16')
    end if
    call MPI_Win_free(win, ierror)
  end subroutine
end module

program reported
  use reports
  implicit none
  integer :: ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  call get_command_argument(1, wanted)
  if (runs('ompi#1869 waits for gets')) call waits_for_gets()
  if (runs('forum#699 logicals and complex numbers')) call logicals_and_complex()
  if (runs('cp2k#2486 sections of arrays')) call sections()
  if (runs('mpich#4514 sums of MPI_REAL16')) call longest_reals()
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a, i0, a)', 'ok: ', count_of_tests, ' tests'
end program
