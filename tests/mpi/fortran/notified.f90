! SPDX-License-Identifier: BSD-3-Clause
!> Notified access (N1 to N6), remote completion and persistent collectives by the Fortran module.
program notified
  use mpi_f08
  use checks
  use oriel
  implicit none
  integer, parameter :: address = MPI_ADDRESS_KIND
  integer, parameter :: kept(2) = [1000, 2000]
  integer, pointer, asynchronous :: memory(:)
  type(MPI_Win) :: win
  type(MPI_Datatype) :: pair, own_type
  type(MPI_Comm) :: graph
  type(MPI_Request) :: request
  integer, asynchronous :: mine(2), got(2), sent(8), received(8)
  integer :: theirs(2), no_buffer(1)
  integer :: code, i

  call begin()
  call make_window(40, memory, win)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  own_type%MPI_VAL = merge(pair%MPI_VAL, MPI_INTEGER%MPI_VAL, rank == 1)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [peer], [1], 1, [peer], [1], &
      MPI_INFO_NULL, .false., graph)
  call MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN)
  mine = 100 * rank + [1, 2]
  theirs = 100 * peer + [1, 2]
  call ORIEL_Win_set_num_notify(win, MPI_INFO_NULL, 8, code)
  call succeeds(code, "ORIEL_Win_set_num_notify")
  call small_counts()
  call large_counts()
  call single_elements()
  call requests_and_probes()
  call counters()
  call bottom()
  call sections()
  call collective_sections()
  call bad_arguments()
  call MPI_Win_free(win)
  call MPI_Type_free(pair)
  call MPI_Comm_free(graph)
  call end_all()

contains

  subroutine small_counts()
    integer, parameter :: ck = kind(0), dk = kind(0)
    include "counted.inc"
  end subroutine

  subroutine large_counts()
    integer, parameter :: ck = MPI_COUNT_KIND, dk = MPI_ADDRESS_KIND
    include "counted.inc"
  end subroutine

  !> What gets read, and what accumulates add to.
  subroutine clear()
    call MPI_Barrier(MPI_COMM_WORLD)
    memory = 7
    memory(1:2) = kept + rank
    got = 0
    call MPI_Win_sync(win)
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  !> Waits for a notification of the other rank with this tag.
  subroutine await(tag)
    integer, intent(in) :: tag
    type(MPI_Request) :: arrival
    type(MPI_Status) :: status
    integer :: bytes
    call ORIEL_Notify_init(win, peer, tag, 1, arrival, code)
    call succeeds(code, "ORIEL_Notify_init")
    call MPI_Start(arrival)
    call MPI_Wait(arrival, status)
    call check(status%MPI_SOURCE == peer .and. status%MPI_TAG == tag, "a notification's status")
    call MPI_Get_count(status, MPI_BYTE, bytes)
    call check(bytes == 2 * storage_size(0) / 8, "a notification's number of bytes")
    call MPI_Request_free(arrival)
  end subroutine

  !> Waits until a counter is 1, and sets it to 0.
  subroutine await_counter(counter)
    integer, intent(in) :: counter
    type(MPI_Request) :: reached
    integer(MPI_COUNT_KIND) :: value
    call ORIEL_Win_get_notify_request(win, counter, 1_MPI_COUNT_KIND, reached, code)
    call succeeds(code, "ORIEL_Win_get_notify_request")
    call MPI_Wait(reached, MPI_STATUS_IGNORE)
    value = -1
    call ORIEL_Win_reset_notify_value(win, counter, value, code)
    call succeeds(code, "ORIEL_Win_reset_notify_value")
    call check(value == 1, "a counter's value")
  end subroutine

  subroutine start_once(collective)
    type(MPI_Request), intent(inout) :: collective
    call MPI_Start(collective, code)
    call succeeds(code, "a start")
    call complete(collective, "a wait for a collective")
    call MPI_Request_free(collective)
  end subroutine

  subroutine start_twice(collective)
    type(MPI_Request), intent(inout) :: collective
    call MPI_Start(collective, code)
    call succeeds(code, "a start")
    call complete(collective, "a wait for a collective")
    call start_once(collective)
  end subroutine

  subroutine single_elements()
    integer, asynchronous :: result, compare
    call clear()
    result = 0
    compare = 7
    call ORIEL_Fetch_and_op_notify(mine, result, MPI_INTEGER, peer, 3_address, MPI_SUM, win, 21, &
        code)
    call succeeds(code, "ORIEL_Fetch_and_op_notify")
    call MPI_Win_flush(peer, win)
    call await_one(21)
    call check(result == 7 .and. memory(4) == 7 + theirs(1), "Fetch_and_op_notify")
    result = 0
    call ORIEL_Compare_and_swap_notify(mine, compare, result, MPI_INTEGER, peer, 4_address, win, &
        22, code)
    call succeeds(code, "ORIEL_Compare_and_swap_notify")
    call MPI_Win_flush(peer, win)
    call await_one(22)
    call check(result == 7 .and. memory(5) == theirs(1), "Compare_and_swap_notify")
  end subroutine

  subroutine await_one(tag)
    integer, intent(in) :: tag
    type(MPI_Request) :: arrival
    call ORIEL_Win_wait_notify(win, tag, arrival, code)
    call succeeds(code, "ORIEL_Win_wait_notify")
    call complete(arrival, "a wait for one notification")
    call check(arrival == MPI_REQUEST_NULL, "the request serves once")
  end subroutine

  subroutine requests_and_probes()
    type(MPI_Request) :: several(2)
    type(MPI_Status) :: status
    logical :: flag
    integer :: position
    call clear()
    flag = .true.
    call ORIEL_Notify_iprobe(win, peer, 31, flag, status, code)
    call succeeds(code, "ORIEL_Notify_iprobe")
    call check(.not. flag, "there is no notification yet")
    call MPI_Barrier(MPI_COMM_WORLD)
    call ORIEL_Put_notify(mine, 2, MPI_INTEGER, peer, 5_address, 2, MPI_INTEGER, win, 31)
    call ORIEL_Notify_probe(win, MPI_ANY_SOURCE, 31, status, code)
    call succeeds(code, "ORIEL_Notify_probe")
    call check(status%MPI_SOURCE == peer .and. status%MPI_TAG == 31, "a probe's status")
    call ORIEL_Notify_probe(win, peer, MPI_ANY_TAG, MPI_STATUS_IGNORE, code)
    call succeeds(code, "ORIEL_Notify_probe that ignores the status")
    flag = .false.
    status%MPI_TAG = -1
    call ORIEL_Notify_iprobe(win, peer, MPI_ANY_TAG, flag, status)
    call check(flag .and. status%MPI_TAG == 31, "a probe finds the notification")
    ! Beside another request. The position is the host's, and MPICH 4.0 counts from 0.
    call MPI_Irecv(got, 2, MPI_INTEGER, peer, 5, MPI_COMM_WORLD, several(1))
    call ORIEL_Notify_init(win, peer, 31, 1, several(2))
    call MPI_Start(several(2))
    call MPI_Waitany(2, several, position, status)
    call check(status%MPI_TAG == 31 .and. status%MPI_SOURCE == peer, "a request beside another")
    call MPI_Sendrecv(mine, 2, MPI_INTEGER, peer, 5, no_buffer, 0, MPI_INTEGER, MPI_PROC_NULL, 0, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(several(1), MPI_STATUS_IGNORE)
    call check(all(got == theirs), "the message has come, too")
    call MPI_Request_free(several(2))
    ! Two notifications for one request.
    call ORIEL_Notify_init(win=win, source=peer, tag=32, expected_count=2, request=request)
    call MPI_Start(request)
    call MPI_Test(request, flag, MPI_STATUS_IGNORE)
    call MPI_Barrier(MPI_COMM_WORLD)
    call check(.not. flag, "nothing has come yet")
    call ORIEL_Put_notify(mine, 1, MPI_INTEGER, peer, 7_address, 1, MPI_INTEGER, win, 32)
    call ORIEL_Put_notify(mine(2), 1, MPI_INTEGER, peer, 8_address, 1, MPI_INTEGER, win, 32)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(memory(8:9) == theirs), "two puts")
    call MPI_Request_free(request)
    call MPI_Win_flush_all(win)
  end subroutine

  subroutine counters()
    integer(MPI_COUNT_KIND) :: value
    integer :: number
    number = -1
    call ORIEL_Win_get_num_notify(win, peer, number, code)
    call succeeds(code, "ORIEL_Win_get_num_notify")
    call check(number == 8, "the other rank's number of counters")
    call ORIEL_Win_set_notify_value(win, 7, 5000000000_MPI_COUNT_KIND, code)
    call succeeds(code, "ORIEL_Win_set_notify_value")
    value = 0
    call ORIEL_Win_get_notify_value(win, 7, value, code)
    call succeeds(code, "ORIEL_Win_get_notify_value")
    call check(value == 5000000000_MPI_COUNT_KIND, "a counter of 64 bits")
    call ORIEL_Win_get_notify_value(win, 6, value)
    call check(value == 0, "the counter before it")
    call ORIEL_Win_get_notify_value(win, 8, value, code)
    call fails(code, ORIEL_ERR_RMA_NOTIFICATION(), "a counter that is not there")
    call ORIEL_Put_notify_counter(mine, 1, MPI_INTEGER, peer, 0_address, 1, MPI_INTEGER, 8, win, &
        code)
    call fails(code, ORIEL_Err_rma_notification(), "a put for a counter that is not there")
  end subroutine

  !> Of Fortran, which has another address than C's.
  subroutine bottom()
    integer(address) :: origin
    type(MPI_Datatype) :: absolute
    call clear()
    call MPI_Get_address(mine, origin)
    call MPI_Type_create_hindexed(1, [2], [origin], MPI_INTEGER, absolute)
    call MPI_Type_commit(absolute)
    call ORIEL_Put_notify(MPI_BOTTOM, 1, absolute, peer, 2_address, 2, MPI_INTEGER, win, 41, code)
    call succeeds(code, "a put from MPI_BOTTOM")
    call await(41)
    call check(all(memory(3:4) == theirs), "a put from MPI_BOTTOM")
    call MPI_Win_flush_all(win)
    call MPI_Type_free(absolute)
  end subroutine

  subroutine sections()
    integer, asynchronous :: grid(4, 4), other(4, 4)
    logical :: flag
    call clear()
    grid = reshape([(100 * rank + i, i = 1, 16)], [4, 4])
    call ORIEL_Put_notify(grid(2, :), 4, MPI_INTEGER, peer, 2_address, 4, MPI_INTEGER, win, 51, &
        code)
    call fails(code, MPI_ERR_BUFFER, "a put from a row")
    call ORIEL_Get_notify(grid(1:4:2, 1), 2, MPI_INTEGER, peer, 0_address, 2, MPI_INTEGER, win, &
        51, code)
    call fails(code, MPI_ERR_BUFFER, "a get to every other element")
    call ORIEL_Rget_accumulate_notify(mine, 2, MPI_INTEGER, other(3:4, 1:2), 2, MPI_INTEGER, peer, &
        0_address, 2, MPI_INTEGER, MPI_SUM, win, 51, request, code)
    call fails(code, MPI_ERR_BUFFER, "a result in a part of two columns")
    call by_shape(grid(3, :))
    call MPI_Barrier(MPI_COMM_WORLD)
    call ORIEL_Notify_iprobe(win, peer, 51, flag, MPI_STATUS_IGNORE)
    call check(.not. flag .and. all(memory(3:6) == 7), "nothing has come of it")
    call MPI_Barrier(MPI_COMM_WORLD)
    ! What is contiguous: a column, one element of a row, columns.
    call ORIEL_Put_notify(grid(2:3, 3), 2, MPI_INTEGER, peer, 2_address, 2, MPI_INTEGER, win, 52, &
        code)
    call succeeds(code, "a put from a part of a column")
    call await(52)
    call check(all(memory(3:4) == 100 * peer + [10, 11]), "a put from a part of a column")
    call ORIEL_Put_notify(grid(:, 2:3), 2, MPI_INTEGER, peer, 4_address, 2, MPI_INTEGER, win, 53, &
        code)
    call succeeds(code, "a put from columns")
    call await(53)
    call check(all(memory(5:6) == 100 * peer + [5, 6]), "a put from columns")
    call ORIEL_Put_notify(grid(4, 2:3:2), 1, MPI_INTEGER, peer, 6_address, 1, MPI_INTEGER, win, &
        54, code)
    call succeeds(code, "a put from one element of a row")
    call await_one(54)
    call check(memory(7) == 100 * peer + 8, "a put from one element of a row")
    call by_size(grid(1, 4), 55)
    call await(55)
    call check(all(memory(8:9) == 100 * peer + [13, 14]), "a put of an assumed size")
    call MPI_Win_flush_all(win)
  end subroutine

  subroutine by_size(column, tag)
    integer, asynchronous, intent(in) :: column(*)
    integer, intent(in) :: tag
    call ORIEL_Put_notify(column, 2, MPI_INTEGER, peer, 7_address, 2, MPI_INTEGER, win, tag, code)
    call succeeds(code, "a put of an assumed size")
  end subroutine

  subroutine by_shape(row)
    integer, asynchronous, intent(in) :: row(:)
    call ORIEL_Put_notify_counter(row, size(row), MPI_INTEGER, peer, 2_address, size(row), &
        MPI_INTEGER, 0, win, code)
    call fails(code, MPI_ERR_BUFFER, "a put from a row, of an assumed shape")
  end subroutine

  !> On one rank alone: all ranks fail.
  subroutine collective_sections()
    type(MPI_Info) :: info
    call MPI_Info_create(info)
    call MPI_Info_set(info, ORIEL_ALLTOALLV, "two_sided")
    if (rank == 0) then
      call ORIEL_Alltoall_init(sent, 1, MPI_INTEGER, received(1:8:2), 1, MPI_INTEGER, &
          MPI_COMM_WORLD, MPI_INFO_NULL, request, code)
    else
      call ORIEL_Alltoall_init(sent, 1, MPI_INTEGER, received, 1, MPI_INTEGER, MPI_COMM_WORLD, &
          MPI_INFO_NULL, request, code)
    end if
    call fails(code, MPI_ERR_BUFFER, "an alltoall to a section of one rank")
    if (rank == 0) then
      call ORIEL_Alltoallv_init(sent(1:8:2), [1, 1], [0, 1], MPI_INTEGER, received, [1, 1], &
          [0, 1], MPI_INTEGER, MPI_COMM_WORLD, info, request, code)
    else
      call ORIEL_Alltoallv_init(sent, [1, 1], [0, 1], MPI_INTEGER, received, [1, 1], [0, 1], &
          MPI_INTEGER, MPI_COMM_WORLD, info, request, code)
    end if
    call fails(code, MPI_ERR_BUFFER, "an alltoallv from a section of one rank")
    call MPI_Info_free(info)
    if (rank == 0) then
      call ORIEL_Reduce_init(sent(1:8:2), received, 2, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD, &
          MPI_INFO_NULL, request, code)
    else
      call ORIEL_Reduce_init(sent, received, 2, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD, &
          MPI_INFO_NULL, request, code)
    end if
    call fails(code, MPI_ERR_BUFFER, "a reduce of a section of one rank")
    call ORIEL_Bcast_init(received(8:1:-1), 2, MPI_INTEGER, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &
        request, code)
    call fails(code, MPI_ERR_BUFFER, "a bcast of a reversed array")
  end subroutine

  !> The error code is returned, and the window still works.
  subroutine bad_arguments()
    call clear()
    call ORIEL_Put_notify(mine, 2, MPI_INTEGER, 9, 2_address, 2, MPI_INTEGER, win, 61, code)
    call fails(code, MPI_ERR_RANK, "a put to rank 9")
    call ORIEL_Put_notify(mine, 2, MPI_INTEGER, peer, 2_address, 2, MPI_INTEGER, win, -61, code)
    call fails(code, MPI_ERR_TAG, "a negative tag")
    call ORIEL_Put_notify(mine, -2, MPI_INTEGER, peer, 2_address, 2, MPI_INTEGER, win, 61, code)
    call fails(code, MPI_ERR_COUNT, "a negative count")
    call ORIEL_Put_notify(mine, 2, MPI_DATATYPE_NULL, peer, 2_address, 2, MPI_INTEGER, win, 61, &
        code)
    call fails(code, MPI_ERR_TYPE, "no datatype")
    call ORIEL_Put_notify(mine, 2, MPI_INTEGER, peer, 40_address, 2, MPI_INTEGER, win, 61, code)
    call fails(code, MPI_ERR_RMA_RANGE, "a put beyond the window")
    call ORIEL_Put_notify(mine, 2, MPI_INTEGER, peer, 2_address, 2, MPI_INTEGER, win, 62)
    call await(62)
    call check(all(memory(3:4) == theirs), "a put after errors")
    call MPI_Win_flush_all(win)
    call ORIEL_Reduce_init(sent, received, 1, MPI_INTEGER, MPI_SUM, 2, MPI_COMM_WORLD, &
        MPI_INFO_NULL, request, code)
    call fails(code, MPI_ERR_ROOT, "a reduce to rank 2")
  end subroutine

end program
