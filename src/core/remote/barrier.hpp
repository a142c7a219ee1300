// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

#include "core/region/region.hpp"
#include "core/remote/message.hpp"
#include "core/remote/sender.hpp"

namespace oriel {

/// One barrier of all ranks of a window, by messages, on windows with remote ranks. It does not
/// depend on epochs: ranks meet in it when MPI ends, whatever they have left open.
///
/// Step s, from step 0 on, goes to the rank 2^s further, when the steps before it have arrived:
/// ceil(log2 n) messages out and in. Invariant: the step s of a rank arrives when that rank and the
/// 2^s - 1 ranks before it have entered.
class Barrier {
 public:
  Barrier(Region& region, Sender& sender)
      : region_(region),
        sender_(sender),
        steps_(static_cast<unsigned>(std::bit_width(static_cast<unsigned>(region.ranks() - 1)))) {}

  void enter() { entered_ = true; }
  /// Carries the barrier on; true when all ranks have entered it.
  bool over();
  /// False: no such message can be.
  bool take(const Message& message);

 private:
  std::uint64_t all_steps() const { return (std::uint64_t{1} << steps_) - 1; }
  bool arrived(unsigned step) const { return (arrived_ >> step & 1) != 0; }
  /// The rank that a step of this one goes to.
  int target(int origin, unsigned step) const {
    return static_cast<int>((origin + (std::int64_t{1} << step)) % region_.ranks());
  }

  Region& region_;
  Sender& sender_;
  unsigned steps_;
  bool entered_ = false;
  unsigned sent_ = 0;          // steps
  std::uint64_t arrived_ = 0;  // bit s: step s has
};

}  // namespace oriel
