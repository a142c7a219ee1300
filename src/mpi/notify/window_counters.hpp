// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/notify/counters.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/window_handle.hpp"
#include "transport/shm/arena.hpp"

namespace oriel::mpi {

/// Gives a window new notification counters, all zero: a collective on the window. Every rank takes
/// the same steps, so that all fail together and none hangs. With the process lock.
class CounterMaker {
 public:
  explicit CounterMaker(WindowHandle& window) : window_(window) {}

  /// Gives the calling rank `number` counters. `info` is the argument of the call.
  Failure make(int number, MPI_Info info);

 private:
  /// The words that each rank sends to all others.
  struct Part {
    ArenaLocation location;
    std::uint32_t count = 0;
    int error_class = MPI_SUCCESS;
  };

  void give_up(int error_class, std::string reason);
  void finish_operations();
  void take_memory(std::uint32_t number);
  /// One exchange among all ranks. Fails if it has failed on any rank.
  Failure exchange();
  Part part_of(int rank) const;
  /// Checks the assertion that all ranks give the same number.
  void check_same();
  void map_rows();

  WindowHandle& window_;
  Part mine_;
  std::string reason_;
  ArenaPiece memory_;
  std::vector<CounterRow> rows_;
};

// The calls on a window's notification counters (N8), for each spelling of their names.

Failure get_value(WindowHandle& window, int index, MPI_Count* value);
Failure set_value(WindowHandle& window, int index, MPI_Count value);
/// The request completes when the counter reaches the threshold. `posted` is false if it has.
Failure await_value(WindowHandle& window, int index, MPI_Count threshold, PendingRequest& request,
                    bool& posted);
/// Makes a request for await_value(). host() is called if the window is not Oriel's.
template <typename Host>
int request_value(const char* call, MPI_Win win, int index, MPI_Count threshold,
                  MPI_Request* request, Host&& host) {
  return with_request(
      call, win, request,
      [&](WindowHandle& window, PendingRequest& pending, bool& posted) {
        return await_value(window, index, threshold, pending, posted);
      },
      host);
}

/// The error of a call on a window that is not Oriel's: MPI_ERR_UNSUPPORTED_OPERATION.
int no_counters(const char* call, MPI_Win handle);

}  // namespace oriel::mpi
