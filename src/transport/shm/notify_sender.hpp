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

  /// Whether the next store may be left to the reader. Not for a while after recalls that cost more
  /// than such stores gain: of who flushes before the reader has come by, or mixes them with other
  /// operations. The longer the more often it happens, so that a program that always does so pays
  /// for a few only.
  bool inlines() {
    if (pause_ == 0) [[likely]]
      return true;
    --pause_;
    return false;
  }
  /// How often that has been so.
  std::uint64_t pauses() const { return pauses_; }
  bool full() const { return kept_ == laden_.size(); }
  /// `now`: how far the reader has come. The queue has a place for each line that it has not taken,
  /// so this has an end.
  void make_space(std::uint64_t now) {
    head = now;
    std::vector<Laden> left;
    left.reserve(std::max<std::size_t>(least_kept, laden_.size()));
    for (std::size_t i = 0; i < kept_; ++i) {
      if (laden_[i].position >= head) left.push_back(laden_[i]);
    }
    kept_ = left.size();
    // Most are under way: so many may be.
    left.resize(kept_ > left.capacity() / 2 ? 2 * left.capacity() : left.capacity());
    laden_.swap(left);
  }
  void note_laden(Laden line) { laden_[kept_++] = line; }
  /// Takes those of the window, of which the reader has taken none before `now`, out of what is
  /// kept.
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
  /// Their positions, oldest first.
  const std::vector<std::uint64_t>& taken() const { return taken_; }
  /// `costly`: stores had to be taken back, or looked after for something that they only delayed.
  void note_recall(bool costly) {
    penalty_ = costly ? std::min(2 * penalty_ + least_pause, most_pause) : penalty_ / 2;
    if (!costly) return;
    pause_ = penalty_;
    ++pauses_;
  }

 private:
  // A fence of all peers takes some microseconds, an inlined store saves the reader a cache line's
  // journey: after 64 of them it has paid.
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
