! SPDX-License-Identifier: BSD-3-Clause
! G10: windows in Fortran, by mpi_f08 (-DBY_F08), by `use mpi` (-DBY_MODULE) or by mpif.h. Prints what
! does not hold, and "ok" where all does. Any number of ranks from 2.
#ifdef BY_F08
#define HANDLE(kind) type(kind)
#define BUFFER asynchronous
#else
#define HANDLE(kind) integer
#define BUFFER volatile
#endif

module binding
#if defined(BY_F08)
  use mpi_f08
#elif defined(BY_MODULE)
  use mpi
#endif
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_loc
  implicit none
#if !defined(BY_F08) && !defined(BY_MODULE)
  include 'mpif.h'
#endif
end module

module checks
  use binding
  implicit none
  integer, parameter :: kind_of_address = MPI_ADDRESS_KIND
  integer(kind_of_address), parameter :: bytes_of_integer = 4
  integer :: rank, ranks, left, right
  logical :: with_oriel  ! what only Oriel promises is looked at
contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    integer :: ierror
    if (holds) return
    print '(a, i0, 2a)', 'FAILED: rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  ! What rank `of` puts.
  pure function values(of) result(made)
    integer, intent(in) :: of
    integer :: made(100), i
    made = [(1000 * of + i, i = 1, 100)]
  end function

  function class_of(code) result(class)
    integer, intent(in) :: code
    integer :: class, ierror
    call MPI_Error_class(code, class, ierror)
  end function

  subroutine barrier()
    integer :: ierror
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine

  subroutine make(memory, win)
    integer, BUFFER :: memory(100)
    HANDLE(MPI_Win), intent(out) :: win
    integer :: ierror
    call MPI_Win_create(memory, 100 * bytes_of_integer, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call check(ierror == MPI_SUCCESS, 'a window is created')
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierror)
  end subroutine

  subroutine free(win)
    HANDLE(MPI_Win), intent(inout) :: win
    integer :: ierror
    call MPI_Win_free(win, ierror)
    call check(ierror == MPI_SUCCESS, 'a window is freed')
    call check(win == MPI_WIN_NULL, 'the handle of a freed window is MPI_WIN_NULL')
  end subroutine
end module

! What the host calls back, in Fortran's convention.
module callbacks
  use checks
  implicit none
  integer :: deleted = 0, handled = 0, code_of_last = 0
  integer(kind_of_address) :: value_deleted = 0
contains
  subroutine on_copy(old, keyval, extra, value, copy, flag, ierror)
    HANDLE(MPI_Win) :: old
    integer :: keyval, ierror
    integer(kind_of_address) :: extra, value, copy
    logical :: flag
    copy = value
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_delete(win, keyval, value, extra, ierror)
    HANDLE(MPI_Win) :: win
    integer :: keyval, ierror
    integer(kind_of_address) :: value, extra
    if (extra == 11) deleted = deleted + 1
    value_deleted = value
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_error(win, code)
    HANDLE(MPI_Win) :: win
    integer :: code
    handled = handled + 1
    code_of_last = code
  end subroutine
end module

module cases
  use callbacks
  implicit none
contains
  subroutine fence()
    HANDLE(MPI_Win) :: win
    integer, BUFFER :: memory(100), sent(100), got(100)
    integer :: ierror
    memory = 0
    sent = values(rank)
    call make(memory, win)
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierror)
    call MPI_Put(sent, 100, MPI_INTEGER, right, 0_kind_of_address, 100, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call check(all(memory == values(left)), 'a fence completes a put')
    call MPI_Get(got, 100, MPI_INTEGER, right, 0_kind_of_address, 100, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call check(all(got == values(rank)), 'a fence completes a get')
    call MPI_Accumulate(sent, 100, MPI_INTEGER, right, 0_kind_of_address, 100, MPI_INTEGER, MPI_SUM, &
                        win, ierror)
    call MPI_Put(sent, 1, MPI_INTEGER, MPI_PROC_NULL, 0_kind_of_address, 1, MPI_INTEGER, win, ierror)
    call check(ierror == MPI_SUCCESS, 'a put to MPI_PROC_NULL')
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierror)
    call check(all(memory == 2 * values(left)), 'a fence completes an accumulate')
    call free(win)
  end subroutine

  subroutine passive()
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Request) :: requests(8)
#ifdef BY_F08
    type(MPI_Status) :: status, statuses(8)
#else
    integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 8)
#endif
    type(c_ptr) :: base
    integer, pointer :: memory(:)
    integer, BUFFER :: sent(100), got(100), one, before, expected
    integer :: i, index, ierror
    logical :: flag
    call MPI_Win_allocate(100 * bytes_of_integer, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    call check(ierror == MPI_SUCCESS, 'a window is allocated')
    call c_f_pointer(base, memory, [100])
    memory = 0
    call barrier()
    sent = values(rank)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win, ierror)
    call MPI_Put(sent, 50, MPI_INTEGER, right, 0_kind_of_address, 50, MPI_INTEGER, win, ierror)
    call MPI_Win_unlock(right, win, ierror)
    call barrier()
    call MPI_Win_lock_all(0, win, ierror)
    call MPI_Win_sync(win, ierror)
    call check(all(memory(1:50) == [(1000 * left + i, i = 1, 50)]), 'an unlock completes a put')
    got = 0
    do i = 1, 8
      call MPI_Rget(got(i), 1, MPI_INTEGER, right, int(i - 1, kind_of_address), 1, MPI_INTEGER, win, &
                    requests(i), ierror)
    end do
    call MPI_Waitany(8, requests, index, status, ierror)
    call MPI_Waitall(8, requests, statuses, ierror)
    call check(all(got(1:8) == sent(1:8)), 'waits complete gets with requests')
    call MPI_Rput(sent(51), 50, MPI_INTEGER, right, 50_kind_of_address, 50, MPI_INTEGER, win, &
                  requests(1), ierror)
    call MPI_Raccumulate(sent(51), 50, MPI_INTEGER, right, 50_kind_of_address, 50, MPI_INTEGER, &
                         MPI_MAX, win, requests(2), ierror)
    call MPI_Rget_accumulate(one, 0, MPI_INTEGER, before, 1, MPI_INTEGER, right, 0_kind_of_address, 1, &
                             MPI_INTEGER, MPI_NO_OP, win, requests(3), ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(3, requests, flag, MPI_STATUSES_IGNORE, ierror)
    end do
    call check(before == sent(1), 'a get_accumulate with MPI_NO_OP reads')
    call MPI_Win_flush_local(right, win, ierror)
    call MPI_Win_flush(right, win, ierror)
    call MPI_Win_flush_local_all(win, ierror)
    call MPI_Win_flush_all(win, ierror)
    call barrier()
    call check(memory(100) == 1000 * left + 100, 'a flush completes a put with a request')
    call barrier()
    one = 1
    call MPI_Fetch_and_op(one, before, MPI_INTEGER, 0, 99_kind_of_address, MPI_SUM, win, ierror)
    call MPI_Win_flush(0, win, ierror)
    call check(before >= 1000 * (ranks - 1) + 100 .and. before < 1000 * (ranks - 1) + 100 + ranks, &
               'fetch_and_op returns a value in between')
    call barrier()
    expected = 1000 * (ranks - 1) + 100 + ranks
    if (rank == 1) then
      one = 7
      call MPI_Compare_and_swap(one, expected, before, MPI_INTEGER, 0, 99_kind_of_address, win, ierror)
      call MPI_Win_flush(0, win, ierror)
      call check(before == expected, 'all that ranks have added is in the sum')
    end if
    call barrier()
    call check(rank /= 0 .or. memory(100) == 7, 'compare_and_swap stores')
    call MPI_Get_accumulate(sent, 3, MPI_INTEGER, got, 3, MPI_INTEGER, right, 0_kind_of_address, 3, &
                            MPI_INTEGER, MPI_REPLACE, win, ierror)
    call MPI_Win_unlock_all(win, ierror)
    call check(all(got(1:3) == sent(1:3)), 'get_accumulate fetches')
    call free(win)
  end subroutine

  subroutine post_start()
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Group) :: world, next, previous
    integer, BUFFER :: memory(100), sent(100)
    integer :: ierror
    logical :: flag
    memory = 0
    sent = values(rank)
    call make(memory, win)
    call MPI_Win_get_group(win, world, ierror)
    call MPI_Group_incl(world, 1, [right], next, ierror)
    call MPI_Group_incl(world, 1, [left], previous, ierror)
    call MPI_Win_post(previous, 0, win, ierror)
    call MPI_Win_start(next, 0, win, ierror)
    call MPI_Put(sent, 100, MPI_INTEGER, right, 0_kind_of_address, 100, MPI_INTEGER, win, ierror)
    call MPI_Win_complete(win, ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Win_test(win, flag, ierror)
    end do
    call check(all(memory == values(left)), 'MPI_Win_test completes an exposure epoch')
    call MPI_Win_post(previous, 0, win, ierror)
    call MPI_Win_start(next, 0, win, ierror)
    call MPI_Accumulate(sent, 100, MPI_INTEGER, right, 0_kind_of_address, 100, MPI_INTEGER, MPI_SUM, &
                        win, ierror)
    call MPI_Win_complete(win, ierror)
    call MPI_Win_wait(win, ierror)
    call check(all(memory == 2 * values(left)), 'MPI_Win_wait completes an exposure epoch')
    call MPI_Group_free(world, ierror)
    call MPI_Group_free(next, ierror)
    call MPI_Group_free(previous, ierror)
    call free(win)
  end subroutine

  subroutine shared()
    HANDLE(MPI_Win) :: win
    type(c_ptr) :: base
    integer, pointer :: memory(:), other(:)
    integer(kind_of_address) :: bytes
    integer :: unit, ierror
    call MPI_Win_allocate_shared(100 * bytes_of_integer, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, &
                                 ierror)
    call c_f_pointer(base, memory, [100])
    memory = values(rank)
    call MPI_Win_fence(0, win, ierror)
    call MPI_Win_shared_query(win, right, bytes, unit, base, ierror)
    call check(bytes == 100 * bytes_of_integer .and. unit == 4, 'a neighbour has what it has asked for')
    call c_f_pointer(base, other, [100])
    call check(all(other == values(right)), 'a neighbour is loaded from')
    call barrier()
    call free(win)
  end subroutine

  subroutine dynamic()
    HANDLE(MPI_Win) :: win
    integer, BUFFER, target :: memory(100)
    integer, BUFFER :: sent(100)
    integer(kind_of_address) :: address, address_there
    integer :: ierror
    memory = 0
    sent = values(rank)
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_attach(win, memory, 100 * bytes_of_integer, ierror)
    call MPI_Get_address(memory, address, ierror)
    call MPI_Sendrecv(address, 1, MPI_AINT, left, 0, address_there, 1, MPI_AINT, right, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierror)
    call MPI_Put(sent, 100, MPI_INTEGER, right, address_there, 100, MPI_INTEGER, win, ierror)
    call MPI_Win_unlock(right, win, ierror)
    call barrier()
    call check(all(memory == values(left)), 'a put to attached memory')
    call MPI_Win_detach(win, memory, ierror)
    call check(ierror == MPI_SUCCESS, 'memory is detached')
    call free(win)
  end subroutine

  subroutine attributes()
    HANDLE(MPI_Win) :: win
    integer, BUFFER, target :: memory(100)
    integer(kind_of_address) :: value, address
    integer :: keyval, ierror
    logical :: flag
    call make(memory, win)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierror)
    call check(flag .and. value == 100 * bytes_of_integer, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierror)
    call check(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
    call MPI_Get_address(memory, address, ierror)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierror)
    call check(flag .and. value == address, 'MPI_WIN_BASE')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
    call check(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag, ierror)
    call check(flag .and. value == MPI_WIN_UNIFIED, 'MPI_WIN_MODEL')
    call MPI_Win_create_keyval(on_copy, on_delete, keyval, 11_kind_of_address, ierror)
    call MPI_Win_get_attr(win, keyval, value, flag, ierror)
    call check(.not. flag, 'a key without a value')
    deleted = 0
    call MPI_Win_set_attr(win, keyval, 4711_kind_of_address, ierror)
    call MPI_Win_get_attr(win, keyval, value, flag, ierror)
    call check(flag .and. value == 4711, 'an attribute of the program')
    call MPI_Win_delete_attr(win, keyval, ierror)
    call check(deleted == 1 .and. value_deleted == 4711, 'the callback of an attribute that is deleted')
    call MPI_Win_set_attr(win, keyval, 4712_kind_of_address, ierror)
    call free(win)
    call check(deleted == 2 .and. value_deleted == 4712, 'the callback of an attribute of a freed window')
    call make(memory, win)
    call MPI_Win_get_attr(win, keyval, value, flag, ierror)
    call check(.not. flag, 'the next window has no attribute of the last')
    call free(win)
    call MPI_Win_free_keyval(keyval, ierror)
  end subroutine

  subroutine names_and_info()
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Info) :: info
    integer, BUFFER :: memory(100)
    character(MPI_MAX_OBJECT_NAME) :: name
    character(20) :: value
    integer :: length, ierror
    logical :: flag
    call make(memory, win)
    call MPI_Win_set_name(win, 'grid of Fortran', ierror)
    name = ''
    call MPI_Win_get_name(win, name, length, ierror)
#ifdef SHORT_NAMES
    name(2:) = 'rid of Fortran'  ! by mpi_f08 Open MPI 4.1 returns one character
#endif
    call check(name == 'grid of Fortran', 'a name')
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'same_disp_unit', 'true', ierror)
    call MPI_Win_set_info(win, info, ierror)
    call check(ierror == MPI_SUCCESS, 'info keys are set')
    call MPI_Info_free(info, ierror)
    call MPI_Win_get_info(win, info, ierror)
    value = ''
    call MPI_Info_get(info, 'accumulate_ordering', 20, value, flag, ierror)
    call check(.not. with_oriel .or. (flag .and. value == 'rar,raw,war,waw'), &
               'the default of accumulate_ordering')
    call MPI_Info_free(info, ierror)
    call free(win)
  end subroutine

  subroutine errors()
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Errhandler) :: handler
    integer, BUFFER :: memory(100), one
    character(MPI_MAX_ERROR_STRING) :: sentence
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: length, ierror
    call MPI_Get_library_version(version, length, ierror)
    call check(with_oriel .eqv. index(version(:length), 'with Oriel') > 0, 'the name of the library')
    one = 1
    memory = 0
    call make(memory, win)
    call MPI_Put(one, 1, MPI_INTEGER, right, 0_kind_of_address, 1, MPI_INTEGER, win, ierror)
    call check(class_of(ierror) == MPI_ERR_RMA_SYNC, 'a put outside of epochs')
    call MPI_Error_string(ierror, sentence, length, ierror)
    call check(.not. with_oriel .or. index(sentence, 'MPI_Put on an unnamed window') > 0, 'its sentence')
    call MPI_Win_create_errhandler(on_error, handler, ierror)
    call MPI_Win_set_errhandler(win, handler, ierror)
    call MPI_Win_fence(0, win, ierror)
    call MPI_Put(one, 1, MPI_INTEGER, ranks + 5, 0_kind_of_address, 1, MPI_INTEGER, win, ierror)
    call check(handled == 1 .and. class_of(code_of_last) == MPI_ERR_RANK, 'an error handler is called')
    if (with_oriel) then
      call MPI_Put(one, 1, MPI_INTEGER, right, 100_kind_of_address, 1, MPI_INTEGER, win, ierror)
      call check(handled == 2 .and. class_of(code_of_last) == MPI_ERR_RMA_RANGE, 'and for a range')
    end if
    call MPI_Errhandler_free(handler, ierror)
    call MPI_Put(one, 1, MPI_INTEGER, right, 99_kind_of_address, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call check(all(memory(:99) == 0) .and. memory(100) == 1, 'nothing was moved but by the right call')
    call free(win)
  end subroutine

  ! Each element lies where an address says, relative to MPI_BOTTOM.
  subroutine bottom()
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Datatype) :: scattered
    integer, BUFFER :: memory(100), sent(100)
    integer(kind_of_address) :: addresses(3)
    integer :: i, ierror
    memory = 0
    sent = values(rank)
    call make(memory, win)
    do i = 1, 3
      call MPI_Get_address(sent(10 * i), addresses(i), ierror)
    end do
    call MPI_Type_create_hindexed(3, [1, 1, 1], addresses, MPI_INTEGER, scattered, ierror)
    call MPI_Type_commit(scattered, ierror)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win, ierror)
    call MPI_Put(MPI_BOTTOM, 1, scattered, right, 0_kind_of_address, 3, MPI_INTEGER, win, ierror)
    call MPI_Type_free(scattered, ierror)  ! while the put is pending
    call MPI_Win_unlock(right, win, ierror)
    call barrier()
    call check(all(memory(1:4) == [1000 * left + 10, 1000 * left + 20, 1000 * left + 30, 0]), &
               'a put from MPI_BOTTOM')
    call barrier()
    call free(win)
  end subroutine

#ifdef BY_F08
  ! The host describes a section by a datatype of its own, and frees that when the call has returned.
  ! At that time the epoch is still deferred, because another rank holds the lock (E2, E5).
  subroutine sections()
    type(MPI_Win) :: win
    type(MPI_Info) :: info
    type(MPI_Request) :: request
    integer, asynchronous :: memory(100), grid(10, 10), row(10)
    integer :: i, ierror
    memory = 0
    grid = reshape(values(rank), [10, 10])
    row = 0
    call make(memory, win)
    ! Otherwise the get waits for the lock.
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'oriel_await_access', 'completion', ierror)
    call MPI_Win_set_info(win, info, ierror)
    call MPI_Info_free(info, ierror)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierror)
    call barrier()
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win, ierror)
    call MPI_Put(grid(3, :), 10, MPI_INTEGER, right, 0_kind_of_address, 10, MPI_INTEGER, win, ierror)
    call MPI_Get(grid(4, 1:9:2), 5, MPI_INTEGER, right, 50_kind_of_address, 5, MPI_INTEGER, win, ierror)
    call MPI_Rput(grid(5:9:2, 1), 3, MPI_INTEGER, right, 20_kind_of_address, 3, MPI_INTEGER, win, &
                  request, ierror)
    call barrier()
    memory(51:55) = [(-1000 * rank - i, i = 1, 5)]
    call MPI_Win_unlock(rank, win, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Win_unlock(right, win, ierror)
    call barrier()
    call check(all(memory(1:10) == [(1000 * left + 10 * i + 3, i = 0, 9)]), 'a put of a row')
    call check(all(memory(21:23) == [(1000 * left + i, i = 5, 9, 2)]), 'a put of every other element')
    call check(all(grid(4, 1:9:2) == [(-1000 * right - i, i = 1, 5)]), 'a get into a row')
    call check(grid(4, 2) == 1000 * rank + 14, 'a get leaves what is between its elements')
    call barrier()
    call free(win)
  end subroutine
#endif

#ifdef LARGE_COUNTS
  subroutine large_counts()
    type(MPI_Win) :: win
    type(c_ptr) :: base
    integer, pointer :: memory(:)
    integer, asynchronous :: sent(100)
    integer(MPI_COUNT_KIND), parameter :: all_of_it = 100
    integer :: ierror
    sent = values(rank)
    call MPI_Win_allocate(100 * bytes_of_integer, 4_kind_of_address, MPI_INFO_NULL, MPI_COMM_WORLD, &
                          base, win, ierror)
    call c_f_pointer(base, memory, [100])
    memory = 0
    call MPI_Win_fence(0, win, ierror)
    call MPI_Put(sent, all_of_it, MPI_INTEGER, right, 0_kind_of_address, all_of_it, MPI_INTEGER, win, &
                 ierror)
    call MPI_Win_fence(0, win, ierror)
    call check(all(memory == values(left)), 'a put with large counts')
    call free(win)
  end subroutine
#endif
end module

program windows
  use cases
  implicit none
  integer :: ierror, length
  call get_environment_variable('ORIEL_TEST_HOST_ONLY', length=length)
  with_oriel = length == 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  call fence()
  call passive()
  call post_start()
  call shared()
  call dynamic()
  call attributes()
  call names_and_info()
  call errors()
  call bottom()
#ifdef BY_F08
  ! Else the compiler passes copies. MPI itself lets a lock wait for another one.
  if (MPI_SUBARRAYS_SUPPORTED .and. with_oriel) call sections()
#endif
#ifdef LARGE_COUNTS
  call large_counts()
#endif
  call barrier()
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(ierror)
end program
