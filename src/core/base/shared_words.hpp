// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace oriel {

inline constexpr std::size_t cache_line = 64;

/// Hint to the processor that this is a spin loop: saves power and lets the sibling hyperthread
/// run.
inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The types and constants of the words that processes share without a lock. The protocols over
/// such words (LockLine, Update, Doorbell, Meeting and others) are templates over such a policy.
/// This is the policy of real processes. The tests have another one, whose words belong to a
/// checker that searches all executions of the memory model.
struct SharedWords {
  template <typename T>
  using Atomic = std::atomic<T>;
  /// A word that one process at a time accesses; the protocol's atomic words determine which.
  template <typename T>
  using Plain = T;
  /// Constructed where a rank begins to wait for others. again() begins the next round of the wait.
  struct Loop {
    void again() const {}
  };

  /// Keeps the compiler from moving a store behind the load that follows.
  static void store_then_load() { std::atomic_signal_fence(std::memory_order_seq_cst); }

  /// An origin that has acquired a contended lock this often in a row becomes its keeper again: the
  /// fence that the next origin in the queue needs is then worth it. Also the number of shared
  /// holders that are counted after an exclusive request has ended uncounted ones (LockLine).
  static constexpr std::uint32_t long_streak = 64;
  /// After this many updates of single elements in a row, ControlBlock::updater changes from
  /// `turns` to `everybody` (Update): as many CPU atomics take a few microseconds, about as long as
  /// the change.
  static constexpr std::uint32_t singles_in_a_row = 512;
  /// How often a thread without its process's lock tries to take its turn: about as long as it
  /// takes to get that lock and use the general path.
  static constexpr unsigned tries_of_turn = 16;
  static void pause() { cpu_pause(); }
  /// Rounds of a wait between two checks whether the awaited rank is alive. That rank is done in
  /// nanoseconds unless it lost its processor. A check takes some ten microseconds, about as long
  /// as these rounds.
  static constexpr std::uint32_t rounds_per_check = 256;
};

/// Stores a word and keeps the store before later loads, on the frequent side of a handshake.
/// `asymmetric`: the rare side calls Sharers::fence() between its own store and its load of `word`;
/// then a compiler barrier is enough on this side.
template <typename Words, typename Value>
void store_before_load(typename Words::template Atomic<Value>& word,
                       std::type_identity_t<Value> value, bool asymmetric) {
  if (asymmetric) [[likely]] {
    word.store(value, std::memory_order_release);
    Words::store_then_load();
  } else {
    word.exchange(value, std::memory_order_seq_cst);
  }
}

}  // namespace oriel
