// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"
#include "core/lock/asymmetric.hpp"

namespace oriel {

/// A lock between threads of a process, of which one takes it all the time and pays two plain
/// stores, and the others try seldom and pay for both. A template over its words, as all protocols
/// are (SharedWords).
///
///     usual side                           seldom side
///     U1  held = 1                         S1  trying: free -> in (compare-exchange); else not now
///     U2  wait while trying is in          S2  fence of the process's threads
///         (acquire); ending: held = 0,     S3  held (acquire): trying = free, not now
///         and not any more                 S4  trying = free (release)
///     U3  held = 0 (release)
///
/// It is revoked by S1 with `ending`, S2, a wait for held = 0, and trying = revoked (release).
///
/// Invariant: nobody is between U2 and U3 while somebody is between S3 and S4, or after `revoked`.
/// Either the seldom side sees U1 in S3 and gives up, or the usual side sees S1 in U2 and waits for
/// S4 (U1 is kept before U2 by S2: see store_before_look()). U3 to S3 and S4 to U2 carry what was
/// written from one to the other.
///
/// The usual side may be several threads that come one after the other by an order of their own,
/// until it is revoked.
template <typename Words>
class BasicBiasedLock {
 public:
  /// `asymmetric`: the seldom side's fence reaches the usual side.
  explicit BasicBiasedLock(bool asymmetric) : asymmetric_(asymmetric) {}

  // The usual side.
  /// False: it has been revoked. `relax` is called while the seldom side is in.
  template <typename Relax>
  bool acquire(Relax&& relax) {
    if (trying_.load(std::memory_order_relaxed) < ending) {
      store_before_look<Words, std::uint32_t>(held_, 1, asymmetric_);
      if (trying_.load(std::memory_order_seq_cst) == free) [[likely]]
        return true;
      for (const typename Words::Loop loop;; loop.again()) {
        const std::uint32_t now = trying_.load(std::memory_order_acquire);
        if (now == free) return true;
        if (now >= ending) break;
        relax();
      }
      release();
    }
    for (const typename Words::Loop loop; !is_revoked(); loop.again()) relax();
    return false;
  }
  bool try_acquire() {
    if (held_.load(std::memory_order_relaxed) != 0 ||
        trying_.load(std::memory_order_relaxed) != free) {
      return false;
    }
    store_before_look<Words, std::uint32_t>(held_, 1, asymmetric_);
    if (trying_.load(std::memory_order_seq_cst) == free) return true;
    release();
    return false;
  }
  void release() { held_.store(0, std::memory_order_release); }

  // The seldom side.
  /// `fence` runs a full fence on every processor that executes the usual side.
  template <typename Fence>
  bool try_acquire_seldom(Fence&& fence) {
    std::uint32_t now = free;
    if (!trying_.compare_exchange_strong(now, in, std::memory_order_seq_cst)) return false;
    if (asymmetric_) fence();
    if (held_.load(std::memory_order_seq_cst) == 0) return true;
    release_seldom();
    return false;
  }
  void release_seldom() { trying_.store(free, std::memory_order_release); }
  /// From now on nobody gets it. Returns when nobody has it; not to be called by who has.
  template <typename Fence, typename Relax>
  void revoke(Fence&& fence, Relax&& relax) {
    for (const typename Words::Loop loop;; loop.again()) {
      std::uint32_t now = free;
      if (trying_.compare_exchange_strong(now, ending, std::memory_order_seq_cst)) break;
      if (now == revoked) return;
      relax();
    }
    if (asymmetric_) fence();
    for (const typename Words::Loop loop; held_.load(std::memory_order_seq_cst) != 0;
         loop.again()) {
      relax();
    }
    trying_.store(revoked, std::memory_order_release);
  }
  /// Acquire: what whoever had it last has written.
  bool is_revoked() const { return trying_.load(std::memory_order_acquire) == revoked; }

  // For the checker.
  using Word = typename Words::template Atomic<std::uint32_t>;
  const Word& held_word() const { return held_; }
  const Word& trying_word() const { return trying_; }

 private:
  enum Trying : std::uint32_t { free, in, ending, revoked };

  bool asymmetric_;
  alignas(cache_line) Word held_{0};
  // The usual side reads it only; it changes seldom.
  alignas(cache_line) Word trying_{free};
};

using BiasedLock = BasicBiasedLock<SharedWords>;

}  // namespace oriel
