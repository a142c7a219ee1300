// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/shared_words.hpp"

namespace oriel {

/// A lock between threads of a process. One thread, the usual side, acquires it often and pays two
/// plain stores. The others, the seldom side, try it rarely and pay for both sides. A template over
/// its words, as all protocols are (SharedWords).
///
///     usual side                           seldom side
///     U1  held = 1                         S1  trying: free -> in (compare-exchange); else not now
///     U2  wait while trying is in          S2  fence of the process's threads
///         (acquire); ending: held = 0,     S3  held (acquire): trying = free, not now
///         and never again                  S4  trying = free (release)
///     U3  held = 0 (release)
///
/// It is revoked by S1 with `ending`, S2, a wait for held = 0, and trying = revoked (release).
///
/// Invariant: the usual side is not between U2 and U3 while the seldom side is between S3 and S4,
/// or after `revoked`. Either S3 reads U1 and the seldom side gives up, or U2 reads S1 and the
/// usual side waits for S4; S2 keeps U1 before U2 (see store_before_load()). U3 to S3 and S4 to U2
/// are release and acquire: each side sees what the other one has written under the lock.
///
/// Until the lock is revoked, the usual side may be several threads that another order serializes.
template <typename Words>
class BasicBiasedLock {
 public:
  /// `asymmetric`: the seldom side's fence reaches the usual side.
  explicit BasicBiasedLock(bool asymmetric) : asymmetric_(asymmetric) {}

  // The usual side.
  /// False if the lock has been revoked. relax() is called while the seldom side has the lock.
  template <typename Relax>
  bool acquire(Relax&& relax) {
    if (trying_.load(std::memory_order_relaxed) < ending) {
      store_before_load<Words, std::uint32_t>(held_, 1, asymmetric_);
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
    store_before_load<Words, std::uint32_t>(held_, 1, asymmetric_);
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
  /// True if the usual side waits for the lock, which the seldom side holds.
  bool is_wanted() const { return held_.load(std::memory_order_relaxed) != 0; }
  void release_seldom() { trying_.store(free, std::memory_order_release); }
  /// Ends the use of the lock: no thread acquires it afterwards. Returns when no thread holds it.
  /// The caller must not hold it.
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
  /// Acquire: the caller sees what the last holder has written.
  bool is_revoked() const { return trying_.load(std::memory_order_acquire) == revoked; }

  // For the checker.
  using Word = typename Words::template Atomic<std::uint32_t>;
  const Word& held_word() const { return held_; }
  const Word& trying_word() const { return trying_; }

 private:
  enum Trying : std::uint32_t { free, in, ending, revoked };

  bool asymmetric_;
  alignas(cache_line) Word held_{0};
  // The usual side only reads it; it changes rarely.
  alignas(cache_line) Word trying_{free};
};

using BiasedLock = BasicBiasedLock<SharedWords>;

}  // namespace oriel
