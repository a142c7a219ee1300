! SPDX-License-Identifier: BSD-3-Clause
!> Nonblocking epochs (E1 to E5), duplicates and memory handles (Q3 to Q6) by the Fortran module.
program epochs
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use mpi_f08
  use checks
  use oriel
  implicit none
  integer, parameter :: address = MPI_ADDRESS_KIND
  integer, pointer, asynchronous :: memory(:)
  type(MPI_Win) :: win
  type(MPI_Group) :: world, other
  integer, asynchronous :: values(2), got(2)
  integer :: code

  call begin()
  call MPI_Comm_group(MPI_COMM_WORLD, world)
  call MPI_Group_incl(world, 1, [peer], other)
  call versions()
  call make_window(16, memory, win)
  values = 100 * rank + [1, 2]
  call fences()
  call posts()
  call locks()
  call deferred()
  call bad_arguments()
  call MPI_Win_free(win)
  call duplicates()
  call memory_handles()
  call intrinsics()
  call end_all()

contains

  subroutine versions()
    integer :: major, minor, patch
    major = -1
    call ORIEL_Get_version(major, minor, patch, code)
    call succeeds(code, "ORIEL_Get_version")
    call check(all([major, minor, patch] == &
        [ORIEL_VERSION_MAJOR, ORIEL_VERSION_MINOR, ORIEL_VERSION_PATCH]), "the version")
    call check(len(ORIEL_ACCESS_AFTER_ACCESS_REORDER) <= MPI_MAX_INFO_KEY, "a key's length")
    call check(len(ORIEL_EXPOSURE_AFTER_EXPOSURE_REORDER) <= MPI_MAX_INFO_KEY, "a key's length")
  end subroutine

  subroutine fences()
    type(MPI_Request) :: requests(2)
    call ORIEL_Win_ifence(MPI_MODE_NOPRECEDE, win, requests(1), code)
    call succeeds(code, "ORIEL_Win_ifence")
    call MPI_Put(values, 2, MPI_INTEGER, peer, 1_address, 2, MPI_INTEGER, win)
    call ORIEL_Win_ifence(MPI_MODE_NOSUCCEED, win, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(memory(2:3) == 100 * peer + [1, 2]), "a put between fences")
    call check(all(requests%MPI_VAL == MPI_REQUEST_NULL%MPI_VAL), "requests are null after a wait")
  end subroutine

  subroutine posts()
    type(MPI_Request) :: requests(4)
    logical :: done
    call ORIEL_Win_ipost(other, 0, win, requests(1), code)
    call succeeds(code, "ORIEL_Win_ipost")
    call ORIEL_Win_istart(group=other, assert=0, win=win, request=requests(2), ierror=code)
    call succeeds(code, "ORIEL_Win_istart")
    call MPI_Testall(2, requests, done, MPI_STATUSES_IGNORE)
    call check(done, "opening calls are complete at once")
    call MPI_Put(values, 2, MPI_INTEGER, peer, 4_address, 2, MPI_INTEGER, win)
    call ORIEL_Win_icomplete(win, requests(3), code)
    call succeeds(code, "ORIEL_Win_icomplete")
    call ORIEL_Win_iwait(win, requests(4), code)
    call succeeds(code, "ORIEL_Win_iwait")
    call MPI_Waitall(2, requests(3:4), MPI_STATUSES_IGNORE)
    call check(all(memory(5:6) == 100 * peer + [1, 2]), "a put between start and complete")
  end subroutine

  subroutine locks()
    type(MPI_Request) :: request
    integer :: i
    do i = 1, 3
      call ORIEL_Win_ilock(MPI_LOCK_EXCLUSIVE, peer, 0, win, request, code)
      call succeeds(code, "ORIEL_Win_ilock")
      call complete(request, "a lock's request")
      call MPI_Accumulate(values, 2, MPI_INTEGER, peer, 7_address, 2, MPI_INTEGER, MPI_SUM, win)
      call ORIEL_Win_iunlock(peer, win, request, code)
      call succeeds(code, "ORIEL_Win_iunlock")
      call complete(request, "an unlock's request")
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    call ORIEL_Win_ilock_all(0, win, request, code)
    call succeeds(code, "ORIEL_Win_ilock_all")
    call complete(request, "a lock_all's request")
    call MPI_Get(got, 2, MPI_INTEGER, peer, 7_address, 2, MPI_INTEGER, win)
    call ORIEL_Win_iflush_local(peer, win, request, code)
    call succeeds(code, "ORIEL_Win_iflush_local")
    call complete(request, "a local flush's request")
    call check(all(got == 3 * (100 * rank + [1, 2])), "three accumulates, read back")
    call MPI_Put(values, 1, MPI_INTEGER, peer, 9_address, 1, MPI_INTEGER, win)
    call ORIEL_Win_iflush(peer, win, request, code)
    call succeeds(code, "ORIEL_Win_iflush")
    call complete(request, "a flush's request")
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_sync(win)
    call check(memory(10) == 100 * peer + 1, "a put that has been flushed")
    got = 0
    call MPI_Get(got, 1, MPI_INTEGER, peer, 9_address, 1, MPI_INTEGER, win)
    call ORIEL_Win_iflush_local_all(win, request, code)
    call succeeds(code, "ORIEL_Win_iflush_local_all")
    call complete(request, "a local flush of all")
    call check(got(1) == 100 * rank + 1, "a get that has been flushed")
    call ORIEL_Win_iflush_all(win, request, code)
    call succeeds(code, "ORIEL_Win_iflush_all")
    call complete(request, "a flush of all")
    call ORIEL_Win_iunlock_all(win, request, code)
    call succeeds(code, "ORIEL_Win_iunlock_all")
    call complete(request, "an unlock_all's request")
  end subroutine

  !> Several epochs are closed before the first can be active: rank 1 has not posted yet.
  subroutine deferred()
    integer, parameter :: epochs = 5
    type(MPI_Request) :: requests(epochs), opened
    integer, asynchronous :: numbers(epochs)
    logical :: done
    integer :: i
    numbers = [(10 * i, i = 1, epochs)]
    if (rank == 0) then
      do i = 1, epochs
        call ORIEL_Win_istart(other, 0, win, opened)
        call MPI_Wait(opened, MPI_STATUS_IGNORE)
        call MPI_Put(numbers(i), 1, MPI_INTEGER, 1, int(9 + i, address), 1, MPI_INTEGER, win)
        call ORIEL_Win_icomplete(win, requests(i))
      end do
      call MPI_Testall(epochs, requests, done, MPI_STATUSES_IGNORE)
      call check(.not. done, "epochs wait for their posts")
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 1) then
      do i = 1, epochs
        call ORIEL_Win_ipost(other, 0, win, opened)
        call MPI_Wait(opened, MPI_STATUS_IGNORE)
        call ORIEL_Win_iwait(win, requests(i))
      end do
    end if
    call MPI_Waitall(epochs, requests, MPI_STATUSES_IGNORE)
    if (rank == 1) call check(all(memory(11:15) == numbers), "puts of epochs that were deferred")
  end subroutine

  subroutine bad_arguments()
    type(MPI_Request) :: request
    request%MPI_VAL = MPI_REQUEST_NULL%MPI_VAL
    call ORIEL_Win_ilock(MPI_LOCK_SHARED, 7, 0, win, request, code)
    call fails(code, MPI_ERR_RANK, "a lock of rank 7")
    call ORIEL_Win_ilock(-5, peer, 0, win, request, code)
    call fails(code, MPI_ERR_LOCKTYPE, "a lock of type -5")
    call ORIEL_Win_icomplete(win, request, code)
    call fails(code, MPI_ERR_RMA_SYNC, "a complete without a start")
    call ORIEL_Win_ilock(MPI_LOCK_SHARED, peer, 0, win, request, code)
    call succeeds(code, "a lock after errors")
    call complete(request, "a lock's request after errors")
    call MPI_Put(values, 2, MPI_INTEGER, peer, 1_address, 2, MPI_INTEGER, win)
    call ORIEL_Win_iunlock(peer, win, request)
    call complete(request, "an unlock's request after errors")
  end subroutine

  subroutine duplicates()
    type(MPI_Win) :: parent, duplicate
    type(MPI_Info) :: info, used
    character(len=8) :: value
    logical :: found
    call make_window(4, memory, parent)
    call MPI_Info_create(info)
    call MPI_Info_set(info, ORIEL_WIN_ORDER, "true")
    call ORIEL_Win_dup_with_info(parent, info, duplicate, code)
    call succeeds(code, "ORIEL_Win_dup_with_info")
    call MPI_Info_free(info)
    call MPI_Win_get_info(duplicate, used)
    call MPI_Info_get(used, ORIEL_WIN_ORDER, len(value), value, found)
    call check(found .and. value == "true", "the duplicate has its own key")
    call MPI_Info_free(used)
    call MPI_Win_lock_all(0, parent)
    call MPI_Put(values, 2, MPI_INTEGER, peer, 1_address, 2, MPI_INTEGER, duplicate)
    call MPI_Win_flush(peer, duplicate)
    call MPI_Win_unlock_all(parent)
    call MPI_Win_free(duplicate)
    call MPI_Barrier(MPI_COMM_WORLD)
    call check(all(memory(2:3) == 100 * peer + [1, 2]), "a put by a duplicate")
    call MPI_Win_free(parent)
  end subroutine

  subroutine memory_handles()
    integer, target, asynchronous :: exposed(8)
    character, asynchronous :: mine(ORIEL_MAX_MEMHANDLE_SIZE), theirs(ORIEL_MAX_MEMHANDLE_SIZE)
    type(MPI_Win) :: parent, there
    integer(address) :: bytes
    integer :: length
    exposed = -1
    bytes = storage_size(exposed) / 8 * size(exposed)
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, parent)
    call MPI_Win_set_errhandler(parent, MPI_ERRORS_RETURN)
    call ORIEL_Memhandle_create(exposed, bytes, MPI_INFO_NULL, parent, mine, length, code)
    call succeeds(code, "ORIEL_Memhandle_create")
    call check(length > 0 .and. length <= ORIEL_MAX_MEMHANDLE_SIZE, "a handle's length")
    call MPI_Sendrecv(mine, length, MPI_BYTE, peer, 0, theirs, size(theirs), MPI_BYTE, peer, 0, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call ORIEL_Win_from_memhandle(theirs, bytes, storage_size(exposed) / 8, MPI_INFO_NULL, peer, &
        parent, there, code)
    call succeeds(code, "ORIEL_Win_from_memhandle")
    call MPI_Win_lock_all(0, parent)
    call MPI_Put(values, 2, MPI_INTEGER, peer, 3_address, 2, MPI_INTEGER, there)
    call MPI_Win_flush(peer, there)
    call MPI_Win_unlock_all(parent)
    call MPI_Win_free(there)
    call MPI_Barrier(MPI_COMM_WORLD)
    call check(all(exposed(4:5) == 100 * peer + [1, 2]), "a put by a memory handle")
    call check(all(exposed([1, 2, 3, 6, 7, 8]) == -1), "a put by a memory handle, and no more")
    call ORIEL_Memhandle_create(exposed(1:8:2), bytes, MPI_INFO_NULL, parent, theirs, length, code)
    call fails(code, MPI_ERR_BUFFER, "a memory handle of a section")
    call ORIEL_Memhandle_release(mine, parent, code)
    call succeeds(code, "ORIEL_Memhandle_release")
    call ORIEL_Memhandle_release(mine, parent, code)
    call fails(code, MPI_ERR_ARG, "a second release")
    call MPI_Win_free(parent)
  end subroutine

  subroutine intrinsics()
    logical :: flag
    call make_window(4, memory, win)
    flag = .false.
    call ORIEL_Win_op_intrinsic(" sum,cas  ", 1_address, MPI_INTEGER, win, flag, code)
    call succeeds(code, "ORIEL_Win_op_intrinsic")
    call check(flag, "one element is updated by the processor's atomics")
    call ORIEL_Win_op_intrinsic("sum", 1000_address, MPI_INTEGER, win, flag)
    call check(.not. flag, "many elements are not")
    call ORIEL_Win_op_intrinsic("add", 1_address, MPI_INTEGER, win, flag, code)
    call fails(code, MPI_ERR_ARG, "an unknown op")
    call ORIEL_Win_op_intrinsic("sum", -1_address, MPI_INTEGER, win, flag, code)
    call fails(code, MPI_ERR_COUNT, "a negative count")
    call MPI_Win_free(win)
  end subroutine

end program
