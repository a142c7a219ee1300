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
/// Step s, from step 0 on, goes to the rank 2^s further, when the steps before it have arrived:
/// ceil(log2 n) steps out and in. Invariant: step s of a rank arrives when that rank and the
/// 2^s - 1 ranks before it have entered. Steps are stored in the control block of the rank that
/// they go to, by a mapped rank itself, so a rank that leaves takes no word with it that others
/// look at.
class Barrier {
 public:
  /// `sender`: null if all ranks are mapped.
  Barrier(Region& region, Sender* sender)
      : region_(region),
        sender_(sender),
        steps_(static_cast<unsigned>(std::bit_width(static_cast<unsigned>(region.ranks() - 1)))) {}

  void enter() { entered_ = true; }
  /// Carries the barrier on; true when all ranks have entered it.
  bool over();
  /// A remote rank's step. False: the message is invalid.
  bool take(const Message& message);

 private:
  /// The rank that a step of this one goes to.
  int target(int origin, unsigned step) const {
    return static_cast<int>((origin + (std::int64_t{1} << step)) % region_.ranks());
  }
  void send(unsigned step);

  Region& region_;
  Sender* sender_;
  unsigned steps_;
  bool entered_ = false;
  unsigned sent_ = 0;  // steps
};

}  // namespace oriel
