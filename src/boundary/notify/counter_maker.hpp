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

}  // namespace oriel::boundary
