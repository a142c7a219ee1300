// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <optional>
#include <string_view>
#include <vector>

#include "arrivals.hpp"
#include "bench/notify_api.hpp"
#include "options.hpp"
#include "stay.hpp"
#include "tiling.hpp"

namespace cholesky {

/// Tiles by puts that notify their targets. The tag says which tile it was.
class Notified {
 public:
  static constexpr std::string_view name = "notify";

  Notified(const Tiling& tiling, const Options& options)
      : elements_(tiling.elements()), arrivals_(tiling, options.memory) {
    api_.init(arrivals_.handle(), MPI_ANY_SOURCE, MPI_ANY_TAG, 1, &notification_);
  }
  ~Notified() { MPI_Request_free(&notification_); }
  Notified(const Notified&) = delete;
  Notified& operator=(const Notified&) = delete;

  const double* arrived(int tile) const { return arrivals_.tile(tile); }

  /// The values stay where they are until `finish`.
  void send(int tile, const double* values, const std::vector<int>& children) {
    for (const int child : children) {
      api_.put(values, elements_, MPI_DOUBLE, child, arrivals_.displacement(tile), elements_,
               MPI_DOUBLE, arrivals_.handle(), tile);
    }
  }

  std::optional<int> receive(Stay stay) {
    if (!started_) MPI_Start(&notification_);
    started_ = true;
    MPI_Status status;
    int there = 1;
    if (stay == Stay::yes) {
      MPI_Wait(&notification_, &status);
    } else {
      MPI_Test(&notification_, &there, &status);
    }
    if (!there) return std::nullopt;
    started_ = false;
    return status.MPI_TAG;
  }

  void finish() { MPI_Win_flush_local_all(arrivals_.handle()); }

 private:
  int elements_;
  Arrivals arrivals_;
  bench::NotifyApi api_;
  MPI_Request notification_ = MPI_REQUEST_NULL;
  bool started_ = false;
};

}  // namespace cholesky
