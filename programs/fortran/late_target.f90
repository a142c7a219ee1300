! SPDX-License-Identifier: BSD-3-Clause
!> Rank 1 is late: it exposes its memory after 100 ms of other work. Rank 0 puts into that memory,
!> and has 100 ms of work that needs no answer. It closes its epoch once by the blocking call and
!> once by the nonblocking one.
program late_target
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use mpi_f08
  use oriel
  implicit none
  integer, parameter :: double = kind(1d0), address = MPI_ADDRESS_KIND
  integer :: rank, way
  type(MPI_Win) :: win
  type(MPI_Group) :: all, peer
  type(MPI_Request) :: opened, closed
  type(c_ptr) :: base
  real(double), pointer, asynchronous :: memory(:)
  real(double), asynchronous :: sent
  real(double) :: begin

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Win_allocate(8_address, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, memory, [1])
  call MPI_Win_get_group(win, all)
  call MPI_Group_incl(all, 1, [1 - rank], peer)

  do way = 1, 2
    sent = way
    call MPI_Barrier(MPI_COMM_WORLD)
    begin = MPI_Wtime()
    if (rank == 1) then
      call work() ! late
      call MPI_Win_post(peer, 0, win)
      call MPI_Win_wait(win)
      call MPI_F_sync_reg(memory)
      if (abs(memory(1) - way) > 0) error stop "the data is wrong"
    else if (way == 1) then
      call MPI_Win_start(peer, 0, win)
      call MPI_Put(sent, 1, MPI_DOUBLE_PRECISION, 1, 0_address, 1, MPI_DOUBLE_PRECISION, win)
      call MPI_Win_complete(win) ! waits for rank 1
      call work()
    else
      call ORIEL_Win_istart(peer, 0, win, opened)
      call MPI_Put(sent, 1, MPI_DOUBLE_PRECISION, 1, 0_address, 1, MPI_DOUBLE_PRECISION, win)
      call ORIEL_Win_icomplete(win, closed) ! does not wait
      call work()
      call MPI_Wait(opened, MPI_STATUS_IGNORE)
      call MPI_Wait(closed, MPI_STATUS_IGNORE) ! rank 1 has the data; ours may be changed
      call MPI_F_sync_reg(sent)
    end if
    if (rank == 0) print "(a, f0.3, a)", merge("blocking    ", "nonblocking ", way == 1), &
        MPI_Wtime() - begin, " s"
  end do

  print "(a, i0)", "ok: rank ", rank
  call MPI_Group_free(peer)
  call MPI_Group_free(all)
  call MPI_Win_free(win)
  call MPI_Finalize()

contains

  subroutine work()
    real(double) :: end
    end = MPI_Wtime() + 0.1d0
    do while (MPI_Wtime() < end)
    end do
  end subroutine

end program
