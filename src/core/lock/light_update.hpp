// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/lock/update.hpp"

namespace oriel {

/// The usual update, which finds that it is permitted: U1 to U4 of Update, by an updater that has
/// the right to update alone, or while everybody updates single elements. The right
/// changes hands by no such update, and none waits; so a thread makes it without the lock of its
/// process.
template <typename Words>
class BasicLightUpdate {
 public:
  /// `thread`: its line; null: the process has no other threads.
  BasicLightUpdate(BasicControlBlock<Words>& target, const typename Words::Sharers& sharers,
                   BasicThreadLine<Words>* thread)
      : self_(target, sharers.self(), thread), holder_(Update::enter(target, self_, sharers)) {}
  ~BasicLightUpdate() { self_.word().store(0, std::memory_order_release); }
  BasicLightUpdate(const BasicLightUpdate&) = delete;
  BasicLightUpdate& operator=(const BasicLightUpdate&) = delete;

  // Neither: nothing may be updated; an Update with the process's lock is to be asked.
  bool alone() const { return holder_ == Update::alone_by(self_); }
  bool by_elements() const { return holder_ == Update::everybody; }

 private:
  using Update = BasicUpdate<Words>;

  BasicUpdater<Words> self_;
  std::uint32_t holder_;
};

using LightUpdate = BasicLightUpdate<SharedWords>;

}  // namespace oriel
