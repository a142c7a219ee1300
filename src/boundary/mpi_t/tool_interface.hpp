// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "boundary/mpi_t/index_block.hpp"

namespace oriel::boundary {

/// MPI's tool information interface: where Oriel's variables and its category lie in the lists that
/// the program sees. With the process lock.
class ToolInterface {
 public:
  IndexBlock cvars;
  IndexBlock pvars;
  IndexBlock categories;

  static constexpr std::string_view category = "oriel";

  /// The program has started MPI_T, which it may do several times, or ended it as often.
  void begin();
  void end();

 private:
  int uses_ = 0;
};

extern ToolInterface tool_interface;

/// An index of the program's. Takes the process lock.
IndexBlock::Resolved resolve(const IndexBlock& block, int index);

}  // namespace oriel::boundary
