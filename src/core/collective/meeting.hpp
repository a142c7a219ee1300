// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"

namespace oriel {

/// Where the two sides of a transfer between mapped ranks meet, use after use. Whoever arrives
/// second finds both buffers ready and moves the bytes; a side that waits meanwhile moves pieces of
/// them too. Pieces are numbered on from use to use: those of use u end before u times the pieces
/// of one. Zeroed memory is a valid one.
///
/// A side arrives for use u when all pieces of use u - 1 have been moved, so nobody takes a piece
/// of a use that both have not begun.
template <typename Words>
class alignas(cache_line) BasicMeeting {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

 public:
  /// This side's buffer is ready. True: the other one's is as well.
  bool arrive() {
    // Release: what is in our buffer. Acquire: what is in the other one.
    return arrivals_.fetch_add(1, std::memory_order_acq_rel) % 2 != 0;
  }
  /// Both are ready for that use.
  bool met(std::uint64_t use) const { return arrivals_.load(std::memory_order_acquire) >= 2 * use; }

  /// After both have met: the next piece that nobody has taken, or `end`.
  std::uint64_t take(std::uint64_t end) {
    // Relaxed: the buffers were ready when both had met, and who takes a piece is all that this
    // word says.
    std::uint64_t next = taken_.load(std::memory_order_relaxed);
    while (next < end && !taken_.compare_exchange_weak(next, next + 1, std::memory_order_relaxed)) {
    }
    return next < end ? next : end;
  }
  /// A piece has been moved. True: it was the last one before `end`.
  bool moved(std::uint64_t end) {
    // Release: its bytes. Acquire: those of the pieces that the other side has moved.
    return moved_.fetch_add(1, std::memory_order_acq_rel) + 1 == end;
  }
  bool over(std::uint64_t end) const { return moved_.load(std::memory_order_acquire) >= end; }

  /// That use is no good: a piece of it could not be moved, said before moved(); or the sender has
  /// not got the bytes itself, said before it arrives.
  void fail(std::uint64_t use) { failed_[use % 2].store(use, std::memory_order_relaxed); }
  /// Asked when it is over, and before this side arrives for another use: so the other one is at
  /// most about to arrive for the next.
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
  std::array<Atomic<std::uint64_t>, 2> failed_{};  // the last uses, even and odd, that did
};

using Meeting = BasicMeeting<SharedWords>;

static_assert(sizeof(Meeting) == cache_line);

}  // namespace oriel
