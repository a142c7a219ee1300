// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/lock/update.hpp"

namespace oriel {

/// An update by a thread that does not hold its process's lock: U1 to U4 of Update, for a thread
/// that has the right to update alone, or while everybody updates single elements. It never changes
/// hands, and never waits.
template <typename Words>
class BasicThreadUpdate {
 public:
  /// `alone`: see Update.
  BasicThreadUpdate(BasicControlBlock<Words>& target, BasicThreadLine<Words>& thread,
                    const typename Words::Sharers& sharers, bool alone)
      : self_(target, sharers.self(), &thread) {
    const std::uint32_t holder = BasicUpdate<Words>::enter(target, self_, sharers);
    alone_ = holder == BasicUpdate<Words>::alone_by(self_);
    permitted_ = alone_ || (holder == BasicUpdate<Words>::everybody && !alone);
  }
  ~BasicThreadUpdate() { self_.word().store(0, std::memory_order_release); }
  BasicThreadUpdate(const BasicThreadUpdate&) = delete;
  BasicThreadUpdate& operator=(const BasicThreadUpdate&) = delete;

  /// False: nothing may be updated; an Update with the process's lock is to be asked.
  bool permitted() const { return permitted_; }
  /// Of a permitted one.
  bool alone() const { return alone_; }

 private:
  BasicUpdater<Words> self_;
  bool alone_;
  bool permitted_;
};

using ThreadUpdate = BasicThreadUpdate<SharedWords>;

}  // namespace oriel
