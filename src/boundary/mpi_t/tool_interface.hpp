// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "boundary/mpi_t/index_block.hpp"

namespace oriel::boundary {

/// Oriel's part in MPI's tool information interface: the indices of its variables and its category
/// in the lists that the program sees. With the process lock.
class ToolInterface {
 public:
  IndexBlock cvars;
  IndexBlock pvars;
  IndexBlock categories;

  static constexpr std::string_view category = "oriel";

  /// Called when the program starts MPI_T, which it may do several times, or ends it as often.
  void begin();
  void end();

 private:
  int uses_ = 0;
};

extern ToolInterface tool_interface;

/// Resolves an index that the program has passed. Acquires the process lock.
IndexBlock::Resolved resolve(const IndexBlock& block, int index);

}  // namespace oriel::boundary
