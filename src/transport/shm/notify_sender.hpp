// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oriel {

/// A producer's state for one notification queue: the reader's position as last loaded, and the
/// laden lines that the reader may not have taken.
class NotifySender {
 public:
  /// A line with a store for the reader to make.
  struct Laden {
    std::uint64_t position;
    std::uint32_t window;  // its number in the reader's process
  };

  std::uint64_t head = 0;

  /// True if the next store may be inlined. False for a while after a recall that costs more than
  /// inlining gains: the program flushes before the reader has taken the line, or mixes such puts
  /// with other operations. The pause doubles with each such recall, so that a program that always
  /// does so pays for a few only.
  bool inlines() {
    if (pause_ == 0) [[likely]]
      return true;
    --pause_;
    return false;
  }
  /// How many times inlining has paused.
  std::uint64_t pauses() const { return pauses_; }
  bool full() const { return kept_ == laden_.size(); }
  /// Makes space for a laden line. `now`: the reader's position. The space is bounded, because the
  /// queue has a limited number of lines that have not been taken.
  void make_space(std::uint64_t now) {
    head = now;
    std::vector<Laden> left;
    left.reserve(std::max<std::size_t>(least_kept, laden_.size()));
    for (std::size_t i = 0; i < kept_; ++i) {
      if (laden_[i].position >= head) left.push_back(laden_[i]);
    }
    kept_ = left.size();
    // More than half have not been taken: double the space.
    left.resize(kept_ > left.capacity() / 2 ? 2 * left.capacity() : left.capacity());
    laden_.swap(left);
  }
  void note_laden(Laden line) { laden_[kept_++] = line; }
  /// Removes the laden lines of the window from those kept, and returns the positions of the ones
  /// that the reader has not taken. `now`: the reader's position.
  const std::vector<std::uint64_t>& take_laden(std::uint32_t window, std::uint64_t now) {
    head = now;
    taken_.clear();
    std::size_t left = 0;
    for (std::size_t i = 0; i < kept_; ++i) {
      const Laden line = laden_[i];
      if (line.position < head) continue;
      if (line.window == window) {
        taken_.push_back(line.position);
      } else {
        laden_[left++] = line;
      }
    }
    kept_ = left;
    return taken_;
  }
  /// The positions that take_laden() returned, oldest first.
  const std::vector<std::uint64_t>& taken() const { return taken_; }
  /// `costly`: stores had to be recalled, or were checked for an operation that must follow them.
  void note_recall(bool costly) {
    penalty_ = costly ? std::min(2 * penalty_ + least_pause, most_pause) : penalty_ / 2;
    if (!costly) return;
    pause_ = penalty_;
    ++pauses_;
  }

 private:
  // A fence of all peers takes some microseconds; an inlined store saves the reader one cache miss.
  // 64 inlined stores save about as much as one fence costs.
  static constexpr std::uint32_t least_pause = 64;
  static constexpr std::uint32_t most_pause = 1U << 20;

  static constexpr std::size_t least_kept = 64;

  std::vector<Laden> laden_;
  std::size_t kept_ = 0;
  std::vector<std::uint64_t> taken_;
  std::uint32_t pause_ = 0;
  std::uint32_t penalty_ = 0;
  std::uint64_t pauses_ = 0;
};

}  // namespace oriel
