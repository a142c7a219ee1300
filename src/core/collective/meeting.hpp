// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/base/shared_words.hpp"

namespace oriel {

/// Synchronizes the two sides of a transfer between mapped ranks by one copy, in each use. When the
/// second side arrives, both buffers are ready. That side moves the pieces; a side that waits moves
/// some of them too. Pieces are numbered across uses: those of use u end before u times the number
/// of pieces of one use. Zeroed memory is a valid object.
///
/// A side arrives for use u only after all pieces of use u - 1 have been moved. So no piece of a
/// use is taken before both sides have begun that use.
template <typename Words>
class alignas(cache_line) BasicMeeting {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

 public:
  /// Announces that this side's buffer is ready. True if the other side's buffer is ready as well.
  bool arrive() {
    // Release: the content of our buffer. Acquire: that of the other side's.
    return arrivals_.fetch_add(1, std::memory_order_acq_rel) % 2 != 0;
  }
  /// Returns whether both sides are ready for use `use`.
  bool met(std::uint64_t use) const { return arrivals_.load(std::memory_order_acquire) >= 2 * use; }

  /// After both sides have met: the next piece that no side has taken, or `end`.
  std::uint64_t take(std::uint64_t end) {
    // Relaxed: the buffers have been ready since both sides met, and this word only assigns each
    // piece to one side.
    std::uint64_t next = taken_.load(std::memory_order_relaxed);
    while (next < end && !taken_.compare_exchange_weak(next, next + 1, std::memory_order_relaxed)) {
    }
    return next < end ? next : end;
  }
  /// Counts a piece as moved. True if it was the last one before `end`.
  bool moved(std::uint64_t end) {
    // Release: the bytes of this piece. Acquire: those of the pieces that the other side has moved.
    return moved_.fetch_add(1, std::memory_order_acq_rel) + 1 == end;
  }
  bool over(std::uint64_t end) const { return moved_.load(std::memory_order_acquire) >= end; }

  /// Marks use `use` as failed. A side that could not move a piece calls this before moved(). A
  /// sender whose own data are invalid calls this before it arrives.
  void fail(std::uint64_t use) { failed_[use % 2].store(use, std::memory_order_relaxed); }
  /// Returns whether use `use` has failed. This side calls it when the use is over, and before it
  /// arrives for the next one. So the other side has marked use `use` + 1 at most.
  bool failed(std::uint64_t use) const {
    return failed_[use % 2].load(std::memory_order_relaxed) == use;
  }

  /// Calls visit(word, name) for each of its words.
  template <typename Visit>
  void for_words(Visit&& visit) const {
    visit(arrivals_, "arrivals");
    visit(taken_, "taken");
    visit(moved_, "moved");
    visit(failed_[0], "failed, even");
    visit(failed_[1], "failed, odd");
  }

 private:
  Atomic<std::uint64_t> arrivals_{0};
  Atomic<std::uint64_t> taken_{0};
  Atomic<std::uint64_t> moved_{0};
  std::array<Atomic<std::uint64_t>, 2> failed_{};  // last failed uses, even and odd
};

using Meeting = BasicMeeting<SharedWords>;

static_assert(sizeof(Meeting) == cache_line);

}  // namespace oriel
