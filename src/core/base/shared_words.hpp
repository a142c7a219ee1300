// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/cpu_pause.hpp"

namespace oriel {

class Sharers;

/// How the words are made that processes share without a lock, and who shares them. The protocols
/// over them (LockLine, Update, Doorbell, WatchedWord, FenceTree, the Mailbox's places, ErrandCell,
/// BiasedLock, PieceRoot) are templates over such a policy: this is the real one; the tests have
/// one whose words belong to a checker that searches all that the memory model permits.
struct SharedWords {
  template <typename T>
  using Atomic = std::atomic<T>;
  /// Touched by one process at a time, as other words say.
  template <typename T>
  using Plain = T;
  using Sharers = oriel::Sharers;
  /// Begins where a rank begins to wait for others; again(): it does what it did before.
  struct Loop {
    void again() const {}
  };

  /// Keeps the compiler from moving a store behind the look that follows.
  static void store_then_look() { std::atomic_signal_fence(std::memory_order_seq_cst); }

  /// So often in a row an origin takes a lock that was contended, before it keeps it again: that
  /// the next one to line up pays for a fence is then worth it.
  static constexpr std::uint32_t long_streak = 64;
  /// So many updates of single elements in turn, one after the other, end the turns: as many CPU
  /// atomics take a few microseconds, as the change does.
  static constexpr std::uint32_t singles_in_a_row = 512;
  /// So often a thread without its process's lock looks for its turn: about as long as it takes to
  /// get that lock and ask the long way.
  static constexpr unsigned tries_of_turn = 16;
  static void pause() { cpu_pause(); }
  /// Whoever is waited for is out in nanoseconds unless it lost its processor. To ask whether it
  /// lives takes some ten microseconds: about as long as so many rounds.
  static constexpr std::uint32_t rounds_per_look = 256;
};

}  // namespace oriel
