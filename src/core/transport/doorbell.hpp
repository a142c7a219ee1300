// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/shared_words.hpp"

namespace oriel {

/// The futex on which a process sleeps when it has no work. One per process, mapped by its node
/// peers. A process that stores a word for which the owner may wait then reads `sleeping`, and
/// rings if it is not 0. No fence here orders the store before that read. The sleeper fences
/// instead (Sleeper in the shm transport), because it has time and the storer has not.
template <typename Words>
struct alignas(cache_line) BasicDoorbell {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  Atomic<std::uint32_t> sleeping{0};  // number of the owner's threads that sleep or are about to
  Atomic<std::uint32_t> rings{0};     // futex word; incremented by each ring

  // For the sleeper, in this order:
  //   1. lie_down();
  //   2. fence all peers;
  //   3. read read_rings();
  //   4. check what it waits for;
  //   5. sleep while `rings` has the value read.
  void lie_down() { sleeping.fetch_add(1, std::memory_order_seq_cst); }
  std::uint32_t read_rings() const { return rings.load(std::memory_order_acquire); }
  void rise() { sleeping.fetch_sub(1, std::memory_order_relaxed); }

  // For the storer, after its store: returns whether it must ring.
  bool asked_to_ring() const {
    Words::store_then_load();
    return sleeping.load(std::memory_order_relaxed) != 0;
  }
  /// The caller must then wake the threads that sleep on `rings`.
  void ring() { rings.fetch_add(1, std::memory_order_release); }
};

using Doorbell = BasicDoorbell<SharedWords>;

static_assert(sizeof(Doorbell) == cache_line);

}  // namespace oriel
