// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "checked_row.hpp"
#include "success.hpp"

namespace persistent {

/// The nonblocking call, and its wait.
class NonblockingRow final : public CheckedRow {
 public:
  using CheckedRow::CheckedRow;

  void play(std::int64_t rounds) override {
    play_rounds(rounds, [this] {
      MPI_Request request = MPI_REQUEST_NULL;
      expect_success(collective_.nonblocking(&request), variant_.c_str());
      expect_success(MPI_Wait(&request, MPI_STATUS_IGNORE), variant_.c_str());
    });
  }
};

}  // namespace persistent
