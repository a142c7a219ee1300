// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

#include "core/region/region.hpp"
#include "core/remote/message.hpp"
#include "core/remote/sender.hpp"

namespace oriel {

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
  /// Takes a step of a remote rank. False if the message is invalid.
  bool take(const Message& message);

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
