// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file window_handle.hpp
 * Flushes, counters and notification requests of any window. Included by oriel.hpp.
 */
#pragma once

#include <mpi.h>
#include <oriel/notify.h>
#include <oriel/notify_counters.h>
#include <oriel/oriel.h>
#include <oriel/windows.h>

#include <optional>

#include <oriel/cpp/datatype.hpp>
#include <oriel/cpp/error.hpp>
#include <oriel/cpp/notify_request.hpp>
#include <oriel/cpp/request.hpp>

namespace oriel {

/** An MPI_Win that the object does not own. Flushes, sync and counters; the errors are those of the
 *  C functions, which the window's error handler must return (MPI_ERRORS_RETURN). */
class window_handle {
 public:
  explicit window_handle(MPI_Win native = MPI_WIN_NULL) noexcept : native_(native) {}
  /** The MPI handle; MPI_WIN_NULL of an owner that has been moved from or freed. */
  MPI_Win native() const noexcept { return native_; }

  /** MPI_Win_flush: blocks until operations to `rank` are complete at origin and target. */
  void flush(int rank) const { detail::check(MPI_Win_flush(rank, native_)); }
  /** MPI_Win_flush_all: as flush, for operations to all ranks. */
  void flush_all() const { detail::check(MPI_Win_flush_all(native_)); }
  /** MPI_Win_flush_local: blocks until operations to `rank` are complete at the origin. */
  void flush_local(int rank) const { detail::check(MPI_Win_flush_local(rank, native_)); }
  /** MPI_Win_flush_local_all: as flush_local, for operations to all ranks. */
  void flush_local_all() const { detail::check(MPI_Win_flush_local_all(native_)); }
  /** ORIEL_Win_iflush. Does not block; the request completes when flush would have returned. */
  request iflush(int rank) const { return started(ORIEL_Win_iflush, rank); }
  /** ORIEL_Win_iflush_all. Does not block. */
  request iflush_all() const { return started(ORIEL_Win_iflush_all); }
  /** ORIEL_Win_iflush_local. Does not block. */
  request iflush_local(int rank) const { return started(ORIEL_Win_iflush_local, rank); }
  /** ORIEL_Win_iflush_local_all. Does not block. */
  request iflush_local_all() const { return started(ORIEL_Win_iflush_local_all); }
  /** MPI_Win_sync: a memory barrier for the window's memory. Local. */
  void sync() const { detail::check(MPI_Win_sync(native_)); }

  /** ORIEL_Win_set_num_notify: gives the calling rank `num` counters and sets all counters to zero.
   *  Collective; blocks until all ranks have called it. */
  void set_num_notify(int num, MPI_Info info = MPI_INFO_NULL) const {
    detail::check(ORIEL_Win_set_num_notify(native_, info, num));
  }
  /** ORIEL_Win_get_num_notify: the number of counters of a rank. Local. */
  int get_num_notify(int rank) const {
    int num = 0;
    detail::check(ORIEL_Win_get_num_notify(native_, rank, &num));
    return num;
  }
  /** ORIEL_Win_get_notify_value: the value of one of the calling rank's counters. Does not block.
   */
  MPI_Count get_notify_value(int notification_idx) const {
    MPI_Count value = 0;
    detail::check(ORIEL_Win_get_notify_value(native_, notification_idx, &value));
    return value;
  }
  /** ORIEL_Win_set_notify_value: sets one of the calling rank's counters. Local. */
  void set_notify_value(int notification_idx, MPI_Count value) const {
    detail::check(ORIEL_Win_set_notify_value(native_, notification_idx, value));
  }
  /** ORIEL_Win_reset_notify_value: sets a counter to zero and returns its previous value, in one
   *  step. Does not block. */
  MPI_Count reset_notify_value(int notification_idx) const {
    MPI_Count value = 0;
    detail::check(ORIEL_Win_reset_notify_value(native_, notification_idx, &value));
    return value;
  }
  /** ORIEL_Win_get_notify_request: completes when one of the calling rank's counters has reached
   *  `threshold`. Does not block. */
  notify_request get_notify_request(int notification_idx, MPI_Count threshold) const {
    MPI_Request native = MPI_REQUEST_NULL;
    detail::check(ORIEL_Win_get_notify_request(native_, notification_idx, threshold, &native));
    return notify_request(native);
  }

  /** ORIEL_Notify_init: a persistent request for `expected_count` notifications from `source` (or
   *  MPI_ANY_SOURCE) with `tag` (or MPI_ANY_TAG). It is inactive. Local; does not block. */
  persistent_notify_request notify_init(int source, int tag, int expected_count = 1) const {
    MPI_Request native = MPI_REQUEST_NULL;
    detail::check(ORIEL_Notify_init(native_, source, tag, expected_count, &native));
    return persistent_notify_request(native);
  }
  /** ORIEL_Win_wait_notify: an active request for one notification with `tag`, or MPI_ANY_TAG,
   *  from any rank. Local; does not block, despite its name. */
  notify_request wait_notify(int tag) const {
    MPI_Request native = MPI_REQUEST_NULL;
    detail::check(ORIEL_Win_wait_notify(native_, tag, &native));
    return notify_request(native);
  }
  /** ORIEL_Notify_probe: blocks until there is a notification that matches and that no request has
   *  taken, and describes it. The notification is not taken. */
  status notify_probe(int source, int tag) const {
    status result;
    detail::check(ORIEL_Notify_probe(native_, source, tag, result.native()));
    return result;
  }
  /** ORIEL_Notify_iprobe: notify_probe without waiting; nothing if there is none. */
  std::optional<status> notify_iprobe(int source, int tag) const {
    status result;
    int flag = 0;
    detail::check(ORIEL_Notify_iprobe(native_, source, tag, &flag, result.native()));
    return flag != 0 ? std::optional<status>(result) : std::nullopt;
  }

  /** ORIEL_Win_op_intrinsic: true if accumulates with `ops`, a list of words such as "sum,cas", on
   *  up to `max_count` elements of T are hardware atomics. Local. */
  template <element T>
  bool op_intrinsic(const char* ops, MPI_Aint max_count) const {
    int flag = 0;
    detail::check(ORIEL_Win_op_intrinsic(ops, max_count, datatype<T>::get(), native_, &flag));
    return flag != 0;
  }

 protected:
  /** Makes a C call whose last arguments are the window and a request. */
  template <class Call, class... Arguments>
  request started(Call call, Arguments... arguments) const {
    MPI_Request native = MPI_REQUEST_NULL;
    detail::check(call(arguments..., native_, &native));
    return request(native);
  }

  MPI_Win native_;
};

}  // namespace oriel
