// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"

namespace oriel {

/// The word before some bytes that one rank leaves for another one: how many there are, or none.
/// The sender writes them while there are none, the receiver reads them while there are some; so
/// each word says whose turn it is, and no other one need be looked at. Zeroed memory is an empty
/// one.
template <typename Words>
class BasicCell {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

 public:
  // The sender. Acquire: the receiver has read what was there before.
  bool empty() const { return bytes_.load(std::memory_order_acquire) == 0; }
  /// Release: the bytes, which are there.
  void fill(std::uint64_t bytes) { bytes_.store(bytes, std::memory_order_release); }
  /// With the number of bytes: they are not what they should be.
  static constexpr std::uint64_t stale = std::uint64_t{1} << 63;

  // The receiver. Acquire: the bytes.
  std::uint64_t filled() const { return bytes_.load(std::memory_order_acquire); }
  /// Release: that they have been read.
  void clear() { bytes_.store(0, std::memory_order_release); }

  /// Of a cell with space for so many bytes. Few are in the cache line of the word. Many begin with
  /// one of their own: programs' buffers begin at multiples of 16 bytes, and a copy to an address
  /// whose distance is up to 15 bytes more than whole pages takes some processors (AMD's, where the
  /// C library copies by one instruction) sixteen times as long as any other.
  std::byte* payload(std::uint64_t space) {
    return reinterpret_cast<std::byte*>(this) + payload_offset(space);
  }
  const Atomic<std::uint64_t>& word() const { return bytes_; }
  /// What one takes in memory with space for so many bytes.
  static constexpr std::uint64_t stride(std::uint64_t space) {
    return (payload_offset(space) + space + cache_line - 1) / cache_line * cache_line;
  }

 private:
  static constexpr std::uint64_t payload_offset(std::uint64_t space) {
    return space <= most_beside_word ? sizeof(BasicCell) : cache_line;
  }
  static constexpr std::uint64_t most_beside_word = 1024;  // a line more is little beside these

  Atomic<std::uint64_t> bytes_{0};
};

using Cell = BasicCell<SharedWords>;

}  // namespace oriel
