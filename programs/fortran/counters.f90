! SPDX-License-Identifier: BSD-3-Clause
!> Every rank puts a block to every rank in each step. Counters at the target count the blocks; no
!> request is matched and no rank polls for each peer (docs/guides/counters.md).
program counters
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use mpi_f08
  use oriel
  implicit none
  integer, parameter :: double = kind(1d0), address = MPI_ADDRESS_KIND
  integer :: rank, ranks, peer, step, parity, half
  type(MPI_Win) :: win
  type(MPI_Request) :: all
  type(c_ptr) :: base
  real(double), pointer, asynchronous :: memory(:)
  real(double), allocatable, asynchronous :: sent(:)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (sent(ranks))

  ! A block of every rank, for even and for odd steps.
  call MPI_Win_allocate(int(16 * ranks, address), 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, memory, [2 * ranks])
  call ORIEL_Win_set_num_notify(win, MPI_INFO_NULL, 2) ! collective: two counters on each rank
  do step = 0, 19
    parity = modulo(step, 2) ! a peer is at most one step ahead: it waits for us
    half = parity * ranks
    sent = [(block_of(rank, peer, step), peer = 0, ranks - 1)]
    do peer = 0, ranks - 1
      call ORIEL_Put_notify_counter(sent(peer + 1), 1, MPI_DOUBLE_PRECISION, peer, &
          int(half + rank, address), 1, MPI_DOUBLE_PRECISION, parity, win)
    end do
    ! Completes when the counter has reached the threshold.
    call ORIEL_Win_get_notify_request(win, parity, &
        int((step / 2 + 1) * ranks, MPI_COUNT_KIND), all)
    call MPI_Wait(all, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(memory)
    do peer = 0, ranks - 1
      if (abs(memory(half + peer + 1) - block_of(peer, rank, step)) > 0) error stop "a wrong block"
    end do
    call MPI_Win_flush_local_all(win) ! the blocks may be written again
    call MPI_F_sync_reg(sent)
  end do

  print "(a, i0, a, i0)", "ok: rank ", rank, " of ", ranks
  call MPI_Win_free(win)
  call MPI_Finalize()

contains

  pure real(double) function block_of(from, to, at)
    integer, intent(in) :: from, to, at
    block_of = from + 100d0 * to + 10000d0 * at
  end function

end program
