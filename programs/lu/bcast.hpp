// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string_view>

#include "arrived_rows.hpp"
#include "bench/window.hpp"
#include "call_clock.hpp"
#include "layout.hpp"

namespace lu {

/// A blocking broadcast of each row, in a program without windows.
class Bcast {
 public:
  static constexpr std::string_view name = "bcast";

  Bcast(const Layout& layout, bench::Memory, CallClock& calls)
      : layout_(layout), calls_(calls), arrived_(layout) {}

  const double* arrived(int row) const { return arrived_[row]; }

  void expect(int) {}

  const double* receive(int row) {
    broadcast(row, arrived_[row]);
    return arrived_[row];
  }

  void send(int row, double* values) { broadcast(row, values); }
  void close() {}

  void finish() {}

 private:
  void broadcast(int row, double* values) {
    calls_.time([&] {
      MPI_Bcast(values, layout_.length(row), MPI_DOUBLE, layout_.owner(row), MPI_COMM_WORLD);
    });
  }

  const Layout& layout_;
  CallClock& calls_;
  ArrivedRows arrived_;
};

}  // namespace lu
