! SPDX-License-Identifier: BSD-3-Clause
!> What the test programs of the module share. They run on two ranks.
module checks
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  implicit none
  integer :: rank, peer
  integer :: count_of_checks = 0

contains

  subroutine begin()
    integer :: ranks
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call check(ranks == 2, "the program takes two ranks")
    peer = 1 - rank
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  end subroutine

  subroutine end_all()
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Finalize()
    if (rank == 0) print "(a, i0, a)", "ok: ", count_of_checks, " checks"
  end subroutine

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    count_of_checks = count_of_checks + 1
    if (holds) return
    write (error_unit, "(a, i0, 2a)") "rank ", rank, " fails: ", what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine succeeds(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: length
    text = ""
    if (code /= MPI_SUCCESS) call MPI_Error_string(code, text, length)
    call check(code == MPI_SUCCESS, what // " " // trim(text))
  end subroutine

  !> A call has failed with an error of this class.
  subroutine fails(code, class, what)
    integer, intent(in) :: code, class
    character(len=*), intent(in) :: what
    integer :: found
    call MPI_Error_class(code, found)
    call check(found == class, what // " does not fail as it should")
  end subroutine

  !> A window of integers, and its memory here.
  subroutine make_window(elements, memory, win)
    integer, intent(in) :: elements
    integer, pointer, asynchronous, intent(out) :: memory(:)
    type(MPI_Win), intent(out) :: win
    type(c_ptr) :: base
    integer :: bytes
    bytes = storage_size(0) / 8
    call MPI_Win_allocate(int(elements * bytes, MPI_ADDRESS_KIND), bytes, MPI_INFO_NULL, &
        MPI_COMM_WORLD, base, win)
    call c_f_pointer(base, memory, [elements])
    memory = 0
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  subroutine complete(request, what)
    type(MPI_Request), intent(inout) :: request
    character(len=*), intent(in) :: what
    integer :: code
    call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    call succeeds(code, what)
  end subroutine

end module
