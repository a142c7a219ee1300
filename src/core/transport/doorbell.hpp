// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"

namespace oriel {

/// Where a process that has nothing left to do sleeps. One per process, mapped by its node peers.
/// Whoever stores a word that the process may wait for looks at `sleeping` afterwards and rings.
/// The store and the look are not ordered by a fence here: the sleeper pays for that (see the shm
/// transport's Sleeper), because it has time and the storer has not.
template <typename Words>
struct alignas(cache_line) BasicDoorbell {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  Atomic<std::uint32_t> sleeping{0};  // of the owner's threads, how many sleep or are about to
  Atomic<std::uint32_t> rings{0};     // futex word; incremented by whoever rings

  // The sleeper. After lie_down() it fences all peers, reads heard(), looks for what it waits for,
  // and sleeps while `rings` has the value read.
  void lie_down() { sleeping.fetch_add(1, std::memory_order_seq_cst); }
  std::uint32_t heard() const { return rings.load(std::memory_order_acquire); }
  void rise() { sleeping.fetch_sub(1, std::memory_order_relaxed); }

  // The storer, after its store: whether it has to ring.
  bool asked_to_ring() const {
    Words::store_then_look();
    return sleeping.load(std::memory_order_relaxed) != 0;
  }
  /// Whoever sleeps at `rings` has to be woken after this.
  void ring() { rings.fetch_add(1, std::memory_order_release); }
};

using Doorbell = BasicDoorbell<SharedWords>;

static_assert(sizeof(Doorbell) == cache_line);

}  // namespace oriel
