// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file notify_request.hpp
 * Requests that wait for notifications. Included by oriel.hpp. window_handle makes them.
 *
 * Their destructors call MPI_Request_free and do not block, because the notification may never
 * arrive. A request may be freed after its window. Errors are those of the C functions.
 */
#pragma once

#include <mpi.h>

#include <optional>

#include <oriel/cpp/error.hpp>
#include <oriel/cpp/request.hpp>

namespace oriel {

/** An active request for one notification (window_handle::wait_notify), or for the value of a
 *  counter (window_handle::get_notify_request). It is empty when it has completed. */
class [[nodiscard]] notify_request : public detail::owned_request<detail::free_request> {
 public:
  using owned_request::owned_request;

  /** MPI_Wait: blocks until the notification has arrived, and describes it, or until the counter
   *  has reached its threshold; the status then has no meaning. MPI_ERR_OTHER: a process of the
   *  window has ended. */
  status wait() { return wait_status(); }
  /** MPI_Test: as wait, without blocking; nothing if the request is not complete. */
  std::optional<status> test() { return test_status(); }
};

/** A persistent request for notifications (window_handle::notify_init). It is inactive until
 *  start(), and again when wait or test has completed it. */
class [[nodiscard]] persistent_notify_request : public detail::owned_request<detail::free_request> {
 public:
  using owned_request::owned_request;

  /** MPI_Start: from now on the request takes notifications that match. Does not block.
   *  MPI_ERR_REQUEST: it is active. */
  void start() { detail::check(MPI_Start(native())); }
  /** MPI_Wait: blocks until the expected number of notifications has arrived; describes the last
   *  one. Returns at once if the request is inactive. MPI_ERR_OTHER: a process has ended whose
   *  notification the request may be waiting for. */
  status wait() { return wait_status(); }
  /** MPI_Test: as wait, without blocking; nothing if notifications are missing. */
  std::optional<status> test() { return test_status(); }
};

}  // namespace oriel
