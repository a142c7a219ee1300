// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/lock/control.hpp"
#include "core/region/region.hpp"
#include "core/remote/message.hpp"
#include "core/remote/outbox.hpp"

namespace oriel {

/// Gives each rank of a window a few words from each other rank, in rounds in which all ranks take
/// part: an allgather for calls that are collective on a window, whose communicator may have been
/// freed. The words of a mapped rank are read from its control block; a remote rank sends them. It
/// is meant for rare calls, because each rank sends to each other one.
///
/// Words are stored in two entries alternately. A rank that enters a round has seen all ranks enter
/// the previous round, so all of them have read the words of the round before that one.
class Exchange {
 public:
  using Words = ExchangeWords;

  Exchange(Region& region, Sender* sender) : region_(region), sender_(sender) {}

  /// Enters the next round. The previous round is over.
  void begin(const Words& own);
  /// Returns whether all ranks have entered the round.
  bool over();
  /// The words of a rank in this round.
  const Words& of(int rank);
  /// Receives the words of a remote rank. False if the message is invalid.
  bool receive(const Message& message, std::span<const std::byte> payload);

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
  int next_ = 0;                    // ranks below this one have entered the round
  std::vector<Received> received_;  // by rank; empty before the first message of a remote rank
};

/// One barrier of all ranks of a window. It does not depend on epochs: ranks meet in it when MPI
/// ends, whatever they have left open.
///
/// A rank sends step s, from step 0 on, to the rank 2^s after it, when all its earlier steps have
/// arrived: ceil(log2 n) steps sent and received. Invariant: step s arrives at a rank when that
/// rank and the 2^s - 1 ranks before it have entered. A step is stored in its receiver's control
/// block, by a mapped sender itself. So a rank that ends removes no word that others still read.
class Barrier {
 public:
  /// `sender`: null if all ranks are mapped.
  Barrier(Region& region, Sender* sender)
      : region_(region),
        sender_(sender),
        steps_(static_cast<unsigned>(std::bit_width(static_cast<unsigned>(region.ranks() - 1)))) {}

  void enter() { entered_ = true; }
  /// Advances the barrier. True if all ranks have entered it.
  bool over();
  /// Receives a step of a remote rank. False if the message is invalid.
  bool receive(const Message& message);

 private:
  /// The rank to which rank `origin` sends step `step`.
  int target(int origin, unsigned step) const {
    return static_cast<int>((origin + (std::int64_t{1} << step)) % region_.ranks());
  }
  void send(unsigned step);

  Region& region_;
  Sender* sender_;
  unsigned steps_;
  bool entered_ = false;
  unsigned sent_ = 0;  // number of steps sent
};

}  // namespace oriel
