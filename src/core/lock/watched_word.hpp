// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/shared_words.hpp"

namespace oriel {

/// A number that one rank announces once for all readers, and the number of ranks that watch it.
/// Ranks that do not watch cost the announcer nothing.
///
///     announcer                          watcher, after it has read `number` in vain
///     N1  number = call (exchange)       W1  watchers + 1 (fetch_add)
///     N2  read `watchers`                W2  read `number`
///
/// Either N2 reads W1, and the announcer rings all that sleep, or W2 reads N1. If a peer is killed
/// while it watches, each later announcement reads every doorbell.
template <typename Words>
class BasicWatchedWord {
 public:
  using Number = typename Words::template Atomic<std::uint64_t>;
  using Watchers = typename Words::template Atomic<std::uint32_t>;

  BasicWatchedWord(Number& number, Watchers& watchers) : number_(number), watchers_(watchers) {}

  /// True if a rank watches: the caller must then wake all that sleep. Releases the caller's
  /// earlier stores with the number.
  bool announce(std::uint64_t number) {
    number_.exchange(number, std::memory_order_seq_cst);
    return watchers_.load(std::memory_order_seq_cst) != 0;
  }
  bool announced(std::uint64_t number) const {
    return number_.load(std::memory_order_acquire) >= number;
  }
  /// Called when `number` was not announced. True if it has been announced meanwhile; then this
  /// rank does not watch.
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
