// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/failure.hpp"
#include "options.hpp"
#include "stay.hpp"
#include "tiling.hpp"

namespace cholesky {

/// Tiles by point-to-point communication, in a program without windows. The tag says which tile a
/// message is, and by that where it belongs.
class Messages {
 public:
  static constexpr std::string_view name = "messages";

  Messages(const Tiling& tiling, const Options&)
      : elements_(tiling.elements()),
        arrived_(static_cast<std::size_t>(tiling.tiles()) *
                 static_cast<std::size_t>(tiling.elements())) {
    const int* largest = nullptr;
    int found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &found);
    if (found && *largest < tiling.tiles()) {
      bench::fail("this MPI has tags up to " + std::to_string(*largest) + ", too few for " +
                  std::to_string(tiling.tiles()) + " tiles; use fewer tiles.");
    }
  }

  const double* arrived(int tile) const { return &arrived_[place(tile)]; }

  /// The values stay where they are until `finish`.
  void send(int tile, const double* values, const std::vector<int>& children) {
    for (const int child : children) {
      MPI_Isend(values, elements_, MPI_DOUBLE, child, tile, MPI_COMM_WORLD, &sent_.emplace_back());
    }
  }

  /// A tile that has arrived, if there is one.
  std::optional<int> receive(Stay stay) {
    MPI_Status status;
    int there = 1;
    if (stay == Stay::yes) {
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    } else {
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    }
    if (!there) return std::nullopt;
    const int tile = status.MPI_TAG;
    MPI_Recv(&arrived_[place(tile)], elements_, MPI_DOUBLE, status.MPI_SOURCE, tile, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return tile;
  }

  void finish() {
    MPI_Waitall(static_cast<int>(sent_.size()), sent_.data(), MPI_STATUSES_IGNORE);
    sent_.clear();
  }

 private:
  std::size_t place(int tile) const {
    return static_cast<std::size_t>(tile) * static_cast<std::size_t>(elements_);
  }

  int elements_;
  std::vector<double> arrived_;
  std::vector<MPI_Request> sent_;
};

}  // namespace cholesky
