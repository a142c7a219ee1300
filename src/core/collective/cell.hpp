// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/shared_words.hpp"

namespace oriel {

/// The word in front of bytes that a sender passes to a receiver: their number, or 0 for none. The
/// sender writes the bytes while the word is 0, the receiver reads them while it is not 0. So this
/// word alone decides which side may use the cell. Zeroed memory is an empty cell.
template <typename Words>
class BasicCell {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

 public:
  // For the sender. Acquire: the receiver has read the previous bytes.
  bool empty() const { return bytes_.load(std::memory_order_acquire) == 0; }
  /// Release: the bytes, which have been written before.
  void fill(std::uint64_t bytes) { bytes_.store(bytes, std::memory_order_release); }
  /// Set beside the number of bytes: the bytes are invalid, because a receive that they depend on
  /// has failed.
  static constexpr std::uint64_t stale = std::uint64_t{1} << 63;

  // For the receiver. Acquire: the bytes.
  std::uint64_t filled() const { return bytes_.load(std::memory_order_acquire); }
  /// Release: the bytes have been read.
  void clear() { bytes_.store(0, std::memory_order_release); }

  /// The bytes of a cell with space for `space` bytes. Up to `most_beside_word` bytes share the
  /// cache line of the word. More bytes begin with a line of their own: programs' buffers begin at
  /// multiples of 16 bytes, and a copy to an address whose distance from the source exceeds whole
  /// pages by up to 15 bytes takes some processors (AMD's, where the C library copies by one
  /// instruction) sixteen times as long as any other copy.
  std::byte* payload(std::uint64_t space) {
    return reinterpret_cast<std::byte*>(this) + payload_offset(space);
  }
  const Atomic<std::uint64_t>& word() const { return bytes_; }
  /// Bytes of memory of a cell with space for `space` bytes.
  static constexpr std::uint64_t stride(std::uint64_t space) {
    return (payload_offset(space) + space + cache_line - 1) / cache_line * cache_line;
  }

 private:
  static constexpr std::uint64_t payload_offset(std::uint64_t space) {
    return space <= most_beside_word ? sizeof(BasicCell) : cache_line;
  }
  static constexpr std::uint64_t most_beside_word = 1024;  // more bytes are worth a further line

  Atomic<std::uint64_t> bytes_{0};
};

using Cell = BasicCell<SharedWords>;

}  // namespace oriel
