// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/transport/memory_range.hpp"

namespace oriel {

/// An ArenaLocation in shared words. Its owner stores it once. Zeroed words: there is none yet.
template <typename Words>
struct BasicLocationWords {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  void set(const ArenaLocation& location) {
    offset.store(location.offset, std::memory_order_release);
    extent_bytes.store(location.extent_bytes, std::memory_order_release);
  }
  /// The whole location, or none yet, because the word that is stored last is read first.
  ArenaLocation get(std::memory_order order = std::memory_order_acquire) const {
    const std::uint64_t extent = extent_bytes.load(order);
    return {offset.load(order), extent};
  }

  Atomic<std::uint64_t> offset{0};
  Atomic<std::uint64_t> extent_bytes{0};
};

/// A MemoryRange in shared words, which its owner may change. Another word shows readers whether
/// the words that they have read belong together. So each store releases, and each load of a reader
/// acquires.
template <typename Words>
struct BasicRangeWords {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  void set(const MemoryRange& range) {
    address.store(range.address, std::memory_order_release);
    bytes.store(range.bytes, std::memory_order_release);
    location.set(range.location);
  }
  /// `order`: acquire; the owner, which reads its own stores, may use relaxed.
  MemoryRange get(std::memory_order order) const {
    return {address.load(order), bytes.load(order), location.get(order)};
  }

  Atomic<std::uint64_t> address{0};
  Atomic<std::uint64_t> bytes{0};
  BasicLocationWords<Words> location;
};

}  // namespace oriel
