// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/lock/control.hpp"
#include "core/region/region.hpp"
#include "core/remote/message.hpp"
#include "core/remote/sender.hpp"

namespace oriel {

/// A few words from each rank of a window to each other one, in rounds that all take together: an
/// allgather for calls that are collective on a window, whose communicator may be gone. A mapped
/// rank finds the words in the other one's control block, a remote one is sent them. For rare
/// calls: each rank tells each.
///
/// Words lie in one of two places by turns. Who enters a round has seen all ranks in the one before
/// it, and they have read what was said two rounds ago.
class Exchange {
 public:
  using Words = ExchangeWords;

  Exchange(Region& region, Sender* sender) : region_(region), sender_(sender) {}

  /// Enters the next round; the last one is over.
  void begin(const Words& own);
  /// All ranks have entered it.
  bool over();
  /// What the rank has said in this round.
  const Words& of(int rank);
  /// A remote rank's part. False: no such message can be.
  bool take(const Message& message, std::span<const std::byte> payload);

 private:
  struct Received {
    std::uint64_t round = 0;
    std::array<Words, 2> words{};
  };

  bool here(int rank);
  Received& received_from(int rank);

  Region& region_;
  Sender* sender_;  // null: all ranks are mapped
  std::uint64_t round_ = 0;
  int next_ = 0;                    // ranks below have entered this round
  std::vector<Received> received_;  // by remote ranks, from the first message on
};

}  // namespace oriel
