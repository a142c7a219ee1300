// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string_view>
#include <vector>

#include "arrived_rows.hpp"
#include "bench/window.hpp"
#include "call_clock.hpp"
#include "layout.hpp"

namespace lu {

/// A message to each peer, in a program without windows. Receives are posted before the rank
/// computes.
class Isend {
 public:
  static constexpr std::string_view name = "isend";

  Isend(const Layout& layout, bench::Memory, CallClock& calls)
      : layout_(layout), calls_(calls), arrived_(layout) {}

  const double* arrived(int row) const { return arrived_[row]; }

  void expect(int row) {
    calls_.time([&] {
      MPI_Irecv(arrived_[row], layout_.length(row), MPI_DOUBLE, layout_.owner(row), tag,
                MPI_COMM_WORLD, &expected_);
    });
  }

  const double* receive(int row) {
    calls_.time([&] { MPI_Wait(&expected_, MPI_STATUS_IGNORE); });
    return arrived_[row];
  }

  /// The values remain until `finish`.
  void send(int row, const double* values) {
    calls_.time([&] {
      for (int peer = 0; peer < layout_.ranks(); ++peer) {
        if (peer == layout_.rank()) continue;
        MPI_Isend(values, layout_.length(row), MPI_DOUBLE, peer, tag, MPI_COMM_WORLD,
                  &sent_.emplace_back());
      }
    });
  }
  void close() {}

  void finish() {
    calls_.time(
        [&] { MPI_Waitall(static_cast<int>(sent_.size()), sent_.data(), MPI_STATUSES_IGNORE); });
    sent_.clear();
  }

 private:
  static constexpr int tag = 0;  // an owner's rows arrive in their order

  const Layout& layout_;
  CallClock& calls_;
  ArrivedRows arrived_;
  MPI_Request expected_ = MPI_REQUEST_NULL;
  std::vector<MPI_Request> sent_;
};

}  // namespace lu
