// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"
#include "core/lock/asymmetric.hpp"

namespace oriel {

/// A lock between two threads of a process, of which one takes it all the time and pays two plain
/// stores, and the other one tries seldom and pays for both. A template over its words, as all
/// protocols are (SharedWords).
///
///     usual side                           seldom side
///     U1  held = 1                         S1  trying = 1 (exchange)
///     U2  wait while trying (acquire)      S2  fence of the process's threads
///     U3  held = 0 (release)               S3  held (acquire): trying = 0, not now
///                                          S4  trying = 0 (release)
///
/// Invariant: not both are between U2 and U3 and between S3 and S4. Either the seldom side sees U1
/// in S3 and gives up, or the usual side sees S1 in U2 and waits for S4 (U1 is kept before U2 by
/// S2: see store_before_look()). U3 to S3 and S4 to U2 carry what was written from one to the
/// other.
///
/// The usual side may be several threads that come one after the other by an order of their own.
template <typename Words>
class BasicBiasedLock {
 public:
  /// `asymmetric`: the seldom side's fence reaches the usual side.
  explicit BasicBiasedLock(bool asymmetric) : asymmetric_(asymmetric) {}

  // The usual side.
  /// `relax` is called while the seldom side is in.
  template <typename Relax>
  void acquire(Relax&& relax) {
    store_before_look<Words, std::uint32_t>(held_, 1, asymmetric_);
    if (trying_.load(std::memory_order_seq_cst) == 0) [[likely]]
      return;
    for (const typename Words::Loop loop; trying_.load(std::memory_order_acquire) != 0;
         loop.again()) {
      relax();
    }
  }
  bool try_acquire() {
    if (held()) return false;
    store_before_look<Words, std::uint32_t>(held_, 1, asymmetric_);
    if (trying_.load(std::memory_order_seq_cst) == 0) return true;
    release();
    return false;
  }
  void release() { held_.store(0, std::memory_order_release); }
  bool held() const { return held_.load(std::memory_order_relaxed) != 0; }

  // The seldom side.
  /// `fence` runs a full fence on every processor that executes the usual side.
  template <typename Fence>
  bool try_acquire_seldom(Fence&& fence) {
    trying_.exchange(1, std::memory_order_seq_cst);
    if (asymmetric_) fence();
    if (held_.load(std::memory_order_seq_cst) == 0) return true;
    release_seldom();
    return false;
  }
  void release_seldom() { trying_.store(0, std::memory_order_release); }

  // For the checker.
  using Word = typename Words::template Atomic<std::uint32_t>;
  const Word& held_word() const { return held_; }
  const Word& trying_word() const { return trying_; }

 private:
  bool asymmetric_;
  alignas(cache_line) Word held_{0};
  // The usual side reads it only; it changes seldom.
  alignas(cache_line) Word trying_{0};
};

using BiasedLock = BasicBiasedLock<SharedWords>;

}  // namespace oriel
