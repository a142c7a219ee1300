// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oriel {

/// What a producer of notifications knows of one queue: how far its reader was seen to have come,
/// and which lines with stores in them may not have been taken.
class NotifySender {
 public:
  /// A line whose reader makes the store.
  struct Laden {
    std::uint64_t position;
    std::uint32_t window;  // the reader's number of it
  };

  std::uint64_t head = 0;

  /// Whether the next store may be left to the reader. Not for a while after flushes that had to
  /// take stores back: whoever flushes that early gains nothing by them. The longer the more often
  /// it happens, so that a program that always does so pays for a few only.
  bool inlines() {
    if (pause_ == 0) [[likely]]
      return true;
    --pause_;
    return false;
  }
  /// `lines`: how many the queue has.
  void note_laden(Laden line, std::size_t lines) {
    if (laden_.empty()) laden_.resize(lines);
    laden_[last_++ % laden_.size()] = line;
    // The queue had room for the line, so there are no more than `lines` that were not taken.
    first_ = std::max(first_, last_ - std::min(last_, laden_.size()));
  }
  /// Takes those of the window out of what is kept: their positions, oldest first, until the next
  /// call.
  const std::vector<std::uint64_t>& take_laden(std::uint32_t window) {
    taken_.clear();
    std::size_t left = first_;
    for (std::size_t i = first_; i != last_; ++i) {
      const Laden line = laden_[i % laden_.size()];
      if (line.position < head) continue;
      if (line.window == window) {
        taken_.push_back(line.position);
      } else {
        laden_[left++ % laden_.size()] = line;
      }
    }
    last_ = left;
    return taken_;
  }
  void note_recall(bool taken_back) {
    penalty_ = taken_back ? std::min(2 * penalty_ + least_pause, most_pause) : penalty_ / 2;
    if (taken_back) pause_ = penalty_;
  }

 private:
  // A fence of all peers takes some microseconds, an inlined store saves the reader a cache line's
  // journey: after 64 of them it has paid.
  static constexpr std::uint32_t least_pause = 64;
  static constexpr std::uint32_t most_pause = 1U << 20;

  std::vector<Laden> laden_;  // a ring; empty until there is one
  std::vector<std::uint64_t> taken_;
  std::size_t first_ = 0;  // of what is kept, counted since the first
  std::size_t last_ = 0;
  std::uint32_t pause_ = 0;
  std::uint32_t penalty_ = 0;
};

}  // namespace oriel
