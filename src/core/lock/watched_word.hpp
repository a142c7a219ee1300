// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/shared_words.hpp"

namespace oriel {

/// A number that one rank announces once for all who may look at it, and how many of them watch it:
/// who does not sleep, or does not care, costs the announcer nothing.
///
///     announcer                          watcher, which has looked in vain
///     N1  number = call (exchange)       W1  watchers + 1 (fetch_add)
///     N2  look at `watchers`             W2  look at `number`
///
/// Either N2 sees W1, and the announcer rings all that sleep, or W2 sees N1. A peer that is killed
/// while it watches costs later announcements a look at each doorbell.
template <typename Words>
class BasicWatchedWord {
 public:
  using Number = typename Words::template Atomic<std::uint64_t>;
  using Watchers = typename Words::template Atomic<std::uint32_t>;

  BasicWatchedWord(Number& number, Watchers& watchers) : number_(number), watchers_(watchers) {}

  /// True: somebody watches, and all that sleep have to be woken. Released with the number: what
  /// its owner has written before.
  bool announce(std::uint64_t number) {
    number_.exchange(number, std::memory_order_seq_cst);
    return watchers_.load(std::memory_order_seq_cst) != 0;
  }
  bool announced(std::uint64_t number) const {
    return number_.load(std::memory_order_acquire) >= number;
  }
  /// Of what was not announced. True if it has been meanwhile: nothing is watched then.
  bool watch(std::uint64_t number) {
    watchers_.fetch_add(1, std::memory_order_seq_cst);
    if (number_.load(std::memory_order_seq_cst) < number) return false;
    unwatch();
    return true;
  }
  void unwatch() { watchers_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  Number& number_;
  Watchers& watchers_;
};

using WatchedWord = BasicWatchedWord<SharedWords>;

}  // namespace oriel
