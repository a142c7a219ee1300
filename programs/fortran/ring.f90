! SPDX-License-Identifier: BSD-3-Clause
!> Heat in a ring, by notified puts, and its sum by a nonblocking epoch (docs/examples.md).
!>
!> Each rank has some cells of the ring. In each step it sends the first and the last of them to its
!> neighbours, by puts that notify them. At the end each rank adds its heat to a sum on rank 0. The
!> program checks its cells against a computation of the whole ring.
program ring
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use mpi_f08
  use oriel
  implicit none
  integer, parameter :: double = kind(1d0), address = MPI_ADDRESS_KIND
  integer, parameter :: cells = 10, steps = 50, tag = 1, summed = 5
  integer :: rank, ranks, left, right, step, slot
  type(MPI_Win) :: win
  type(MPI_Request) :: arrived(2), opened, closed
  ! From the left and from the right, for even and for odd steps; then the sum.
  real(double), pointer, asynchronous :: memory(:)
  real(double), asynchronous :: heat(cells), edges(2), own_sum
  real(double), allocatable :: whole(:)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  call make_window()
  whole = beginning(cells * ranks)
  heat = whole(rank * cells + 1 : (rank + 1) * cells)

  ! Persistent requests: made once, started for each step.
  call ORIEL_Notify_init(win, left, tag, 1, arrived(1))
  call ORIEL_Notify_init(win, right, tag, 1, arrived(2))
  do step = 1, steps
    slot = modulo(step, 2) ! a neighbour is at most one step ahead: it waits for our data
    edges = [heat(1), heat(cells)]
    call MPI_Startall(2, arrived)
    call ORIEL_Put_notify(edges(1), 1, MPI_DOUBLE_PRECISION, left, 2 * slot + 1_address, 1, &
        MPI_DOUBLE_PRECISION, win, tag)
    call ORIEL_Put_notify(edges(2), 1, MPI_DOUBLE_PRECISION, right, 2 * slot + 0_address, 1, &
        MPI_DOUBLE_PRECISION, win, tag)
    call MPI_Waitall(2, arrived, MPI_STATUSES_IGNORE) ! both are in our window
    call MPI_F_sync_reg(memory)
    heat = spread_out([memory(2 * slot + 1), heat, memory(2 * slot + 2)])
    call MPI_Win_flush_local_all(win) ! our edges may be written again
    call MPI_F_sync_reg(edges)
  end do
  call MPI_Request_free(arrived(1))
  call MPI_Request_free(arrived(2))

  own_sum = sum(heat)
  call ORIEL_Win_ilock(MPI_LOCK_EXCLUSIVE, 0, 0, win, opened) ! the lock may come later
  call MPI_Accumulate(own_sum, 1, MPI_DOUBLE_PRECISION, 0, summed - 1_address, 1, &
      MPI_DOUBLE_PRECISION, MPI_SUM, win)
  call ORIEL_Win_iunlock(0, win, closed) ! does not wait
  do step = 1, steps ! meanwhile
    whole = spread_out([whole(size(whole)), whole, whole(1)])
  end do
  call MPI_Wait(opened, MPI_STATUS_IGNORE)
  call MPI_Wait(closed, MPI_STATUS_IGNORE)
  call MPI_F_sync_reg(own_sum)
  call MPI_Barrier(MPI_COMM_WORLD) ! all ranks have added theirs

  if (any(abs(heat - whole(rank * cells + 1 : (rank + 1) * cells)) > 1d-9)) then
    error stop "the heat is wrong"
  end if
  if (rank == 0) then
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)
    call MPI_F_sync_reg(memory)
    if (abs(memory(summed) - sum(whole)) > 1d-9) error stop "the sum is wrong"
    print "(a, f0.3)", "ok: the sum of the heat is ", memory(summed)
    call MPI_Win_unlock(0, win)
  end if
  call MPI_Win_free(win)
  call MPI_Finalize()

contains

  subroutine make_window()
    integer, parameter :: bytes = storage_size(1d0) / 8
    type(c_ptr) :: base
    call MPI_Win_allocate(int(summed * bytes, address), bytes, MPI_INFO_NULL, MPI_COMM_WORLD, &
        base, win)
    call c_f_pointer(base, memory, [summed])
    memory = 0
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  pure function beginning(count) result(warm)
    integer, intent(in) :: count
    real(double) :: warm(count)
    integer :: i
    warm = [(real(modulo(7 * i, 13), double), i = 1, count)]
  end function

  !> One step: of cells and their two neighbours.
  pure function spread_out(before) result(after)
    real(double), intent(in) :: before(:)
    real(double) :: after(size(before) - 2)
    integer :: i
    do i = 1, size(after)
      after(i) = before(i + 1) + 0.25d0 * (before(i) - 2 * before(i + 1) + before(i + 2))
    end do
  end function

end program
