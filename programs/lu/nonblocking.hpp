// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string_view>
#include <vector>

#include "bench/epoch_api.hpp"
#include "bench/window.hpp"
#include "call_clock.hpp"
#include "layout.hpp"
#include "open_rows.hpp"

namespace lu {

/// An epoch for each row by Oriel's nonblocking calls. The owner closes it before it computes and
/// waits for none of its epochs until it has computed all rows.
class Nonblocking {
 public:
  static constexpr std::string_view name = "nonblocking";

  Nonblocking(const Layout& layout, bench::Memory memory, CallClock& calls)
      : calls_(calls), rows_(layout, memory) {}

  const double* arrived(int row) const { return rows_[row]; }

  void expect(int row) {
    calls_.time([&] {
      MPI_Request opened = MPI_REQUEST_NULL;
      api_.ipost(rows_.owner(row), 0, rows_.handle(), &opened);
      MPI_Wait(&opened, MPI_STATUS_IGNORE);
      api_.iwait(rows_.handle(), &expected_);
    });
  }

  const double* receive(int row) {
    calls_.time([&] { MPI_Wait(&expected_, MPI_STATUS_IGNORE); });
    return rows_[row];
  }

  /// The values remain until `finish`.
  void send(int row, const double* values) {
    calls_.time([&] {
      MPI_Request opened = MPI_REQUEST_NULL;
      api_.istart(rows_.peers(), 0, rows_.handle(), &opened);
      MPI_Wait(&opened, MPI_STATUS_IGNORE);
      rows_.put(row, values);
      api_.icomplete(rows_.handle(), &completed_.emplace_back());
    });
  }
  void close() {}

  void finish() {
    calls_.time([&] {
      MPI_Waitall(static_cast<int>(completed_.size()), completed_.data(), MPI_STATUSES_IGNORE);
    });
    completed_.clear();
  }

 private:
  const bench::EpochApi api_;
  CallClock& calls_;
  OpenRows rows_;
  MPI_Request expected_ = MPI_REQUEST_NULL;
  std::vector<MPI_Request> completed_;
};

}  // namespace lu
