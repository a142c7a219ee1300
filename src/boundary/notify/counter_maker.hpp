// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boundary/host/errors.hpp"
#include "boundary/runtime/window_handle.hpp"
#include "core/notify/counters.hpp"
#include "transport/shm/arena.hpp"

namespace oriel::boundary {

/// Gives a window new notification counters, all zero: a collective on the window in steps that
/// every rank takes, so that all fail together and none hangs. Under the process lock.
class CounterMaker {
 public:
  explicit CounterMaker(WindowHandle& window) : window_(window) {}

  /// The calling rank will have so many. `info` is that of the call.
  Failure make(int number, MPI_Info info);

 private:
  /// What each rank tells all others.
  struct Part {
    ArenaLocation location;
    std::uint32_t count = 0;
    int error_class = MPI_SUCCESS;
  };

  void give_up(int error_class, std::string reason);
  void finish_operations();
  void take_memory(std::uint32_t number);
  /// One round: fails if any rank's part has.
  Failure exchange();
  Part part_of(int rank) const;
  /// The assertion that all ranks give the same number holds.
  void check_same();
  void map_rows();

  WindowHandle& window_;
  Part mine_;
  std::string reason_;
  ArenaPiece memory_;
  std::vector<CounterRow> rows_;
};

}  // namespace oriel::boundary
