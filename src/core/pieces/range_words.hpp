// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/transport/memory_range.hpp"

namespace oriel {

/// An ArenaLocation in shared words. Its owner stores it once; zeroed words say that there is none.
template <typename Words>
struct BasicLocationWords {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  void set(const ArenaLocation& location) {
    offset.store(location.offset, std::memory_order_release);
    extent_bytes.store(location.extent_bytes, std::memory_order_release);
  }
  /// All of it, or none yet: what is stored last is read first.
  ArenaLocation get(std::memory_order order = std::memory_order_acquire) const {
    const std::uint64_t extent = extent_bytes.load(order);
    return {offset.load(order), extent};
  }

  Atomic<std::uint64_t> offset{0};
  Atomic<std::uint64_t> extent_bytes{0};
};

/// A MemoryRange in shared words, which its owner may store anew: another word tells readers
/// whether what they have read belongs together. So each store releases, and each reader's load
/// acquires.
template <typename Words>
struct BasicRangeWords {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  void set(const MemoryRange& range) {
    address.store(range.address, std::memory_order_release);
    bytes.store(range.bytes, std::memory_order_release);
    location.set(range.location);
    ends.store(std::uint64_t{range.tail} << half | range.head, std::memory_order_release);
  }
  /// `order`: acquire, but for the owner, who reads what it has stored itself.
  MemoryRange get(std::memory_order order) const {
    const std::uint64_t both = ends.load(order);
    return {address.load(order), bytes.load(order), location.get(order),
            static_cast<std::uint32_t>(both), static_cast<std::uint32_t>(both >> half)};
  }

  Atomic<std::uint64_t> address{0};
  Atomic<std::uint64_t> bytes{0};
  BasicLocationWords<Words> location;
  Atomic<std::uint64_t> ends{0};  // private bytes: before the shared part, and above them behind it

 private:
  static constexpr unsigned half = 32;
};

}  // namespace oriel
