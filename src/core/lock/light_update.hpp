// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/lock/update.hpp"

namespace oriel {

/// The usual update, which is permitted at once: U1 to U4 of Update, by an updater that has the
/// memory alone, or while everybody updates single elements, or in turn if the turn is free.
/// LightUpdate never changes `updater`, so a thread makes it without the lock of its process.
template <typename Words>
class BasicLightUpdate {
 public:
  /// `thread`: the line of the calling thread; null: the process has no other threads.
  BasicLightUpdate(BasicControlBlock<Words>& target, const typename SharersOf<Words>::Type& sharers,
                   BasicThreadLine<Words>* thread)
      : target_(target),
        self_(target, sharers.self(), thread),
        holder_(Update::enter(target, self_, sharers)) {}
  ~BasicLightUpdate() {
    if (has_turn_) Update::end_turn(target_);
    self_.word().store(0, std::memory_order_release);
  }
  BasicLightUpdate(const BasicLightUpdate&) = delete;
  BasicLightUpdate& operator=(const BasicLightUpdate&) = delete;

  // If all three are false, nothing may be updated: the caller needs an Update, with the process's
  // lock.
  bool alone() const { return holder_ == Update::alone_by(self_); }
  bool by_elements() const { return holder_ == Update::everybody; }
  /// To be called once. If true, the update is made as if alone().
  bool takes_turn(bool whole) {
    if (holder_ == Update::turns) has_turn_ = take_turn(whole);
    return has_turn_;
  }

 private:
  using Update = BasicUpdate<Words>;

  [[gnu::noinline]] bool take_turn(bool whole) {
    for (unsigned i = 0; i < Words::tries_of_turn; ++i) {
      if (Update::try_turn(target_, self_) != 0) {
        Words::pause();
        continue;
      }
      if (Update::count_turn(target_, whole)) return true;
      Update::end_turn(target_);
      return false;
    }
    return false;
  }

  BasicControlBlock<Words>& target_;
  BasicUpdater<Words> self_;
  std::uint32_t holder_;
  bool has_turn_ = false;
};

using LightUpdate = BasicLightUpdate<SharedWords>;

}  // namespace oriel
