// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "arrivals.hpp"
#include "options.hpp"
#include "ring.hpp"
#include "stay.hpp"
#include "tiling.hpp"
#include "waiting.hpp"

namespace cholesky {

/// Tiles by puts that their targets know nothing of. So a rank that has put a tile and knows that
/// it is there writes the tile's number into a ring at the target, which the target polls.
class OneSided {
 public:
  static constexpr std::string_view name = "onesided";

  OneSided(const Tiling& tiling, const Options& options)
      : elements_(tiling.elements()),
        arrivals_(tiling, options.memory),
        ring_(options.memory, options.ring) {}

  const double* arrived(int tile) const { return arrivals_.tile(tile); }

  void send(int tile, const double* values, const std::vector<int>& children) {
    const std::size_t first = unannounced_.size();
    for (const int child : children) unannounced_.push_back({child, tile, 0});
    for (std::size_t index = first; index < unannounced_.size(); ++index) {
      Announcement& put = unannounced_[index];
      MPI_Put(values, elements_, MPI_DOUBLE, put.target, arrivals_.displacement(tile), elements_,
              MPI_DOUBLE, arrivals_.handle());
      ring_.draw(put.target, &put.ticket);
    }
    for (const int child : children) {
      MPI_Win_flush(child, arrivals_.handle());
      ring_.flush(child);
    }
    announce();
  }

  std::optional<int> receive(Stay stay) {
    for (Waiting waiting;; waiting.pause()) {
      announce();
      const auto tile = ring_.take();
      if (tile) {
        MPI_Win_sync(arrivals_.handle());
        return static_cast<int>(*tile);
      }
      if (stay == Stay::no) return std::nullopt;
    }
  }

  void finish() {
    for (Waiting waiting; !unannounced_.empty(); waiting.pause()) announce();
  }

 private:
  struct Announcement {
    int target;
    int tile;
    Ring::Word ticket;
  };

  /// Those whose rings have space. A rank never waits for that: the ring's owner may be waiting for
  /// space in this rank's ring.
  void announce() {
    std::erase_if(unannounced_, [&](const Announcement& put) {
      return ring_.write(put.target, put.ticket, put.tile);
    });
  }

  int elements_;
  Arrivals arrivals_;
  Ring ring_;
  std::vector<Announcement> unannounced_;
};

}  // namespace cholesky
