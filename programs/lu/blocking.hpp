// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string_view>

#include "bench/window.hpp"
#include "call_clock.hpp"
#include "layout.hpp"
#include "open_rows.hpp"

namespace lu {

/// Whether the owner of a row computes before or after it closes its access epoch. Late: it
/// computes while the row is under way, and its peers wait for it (the pattern Late Complete of the
/// paper).
enum class Complete { late, early };

/// An epoch for each row. The next exposure is posted before the rank computes.
template <Complete when>
class Blocking {
 public:
  static constexpr std::string_view name = when == Complete::early ? "early_complete" : "blocking";

  Blocking(const Layout& layout, bench::Memory memory, CallClock& calls)
      : calls_(calls), rows_(layout, memory) {}

  const double* arrived(int row) const { return rows_[row]; }

  void expect(int row) {
    calls_.time([&] { MPI_Win_post(rows_.owner(row), 0, rows_.handle()); });
  }

  const double* receive(int row) {
    calls_.time([&] { MPI_Win_wait(rows_.handle()); });
    return rows_[row];
  }

  void send(int row, const double* values) {
    calls_.time([&] {
      MPI_Win_start(rows_.peers(), 0, rows_.handle());
      rows_.put(row, values);
      if (when == Complete::early) MPI_Win_complete(rows_.handle());
    });
  }

  void close() {
    if (when == Complete::early) return;
    calls_.time([&] { MPI_Win_complete(rows_.handle()); });
  }

  void finish() {}

 private:
  CallClock& calls_;
  OpenRows rows_;
};

}  // namespace lu
