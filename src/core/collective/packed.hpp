// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/error.hpp"
#include "core/collective/schedule.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/reduction.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// Returns whether data sent as type `one` may be received as type `other`. Only numbers of more
/// than a byte are compared: programs use bytes and characters for any data, and signed numbers for
/// unsigned ones.
constexpr bool match_types(Basic one, Basic other) {
  const auto kind = [](Basic basic) -> std::pair<int, bool> {
    switch (basic) {
      case Basic::i16:
      case Basic::u16:
        return {2, false};
      case Basic::i32:
      case Basic::u32:
        return {4, false};
      case Basic::i64:
      case Basic::u64:
        return {8, false};
      case Basic::f32:
        return {4, true};
      case Basic::f64:
        return {8, true};
      default:
        return {0, false};
    }
  };
  return kind(one).first == 0 || kind(other).first == 0 || kind(one) == kind(other);
}

/// The bytes of a stretch, numbered in the order in which they are sent, whatever the datatype.
class Packed {
 public:
  Packed() = default;
  explicit Packed(const Stretch& stretch);

  std::uint64_t bytes() const { return bytes_; }
  /// The address of the bytes if they are one run; null otherwise.
  std::byte* run() const { return run_; }
  /// The predefined datatype of all elements; none if they differ.
  Basic basic() const { return buffer_.layout ? buffer_.layout->basic() : Basic::none; }

  /// Copies `bytes` bytes, beginning with number `first`, to address `to`.
  void copy_out(std::uint64_t first, std::uint64_t bytes, std::byte* to) const;
  /// As copy_out(), by stream_copy() if the bytes are one run.
  void stream_out(std::uint64_t first, std::uint64_t bytes, std::byte* to) const;
  /// Copies `bytes` bytes at address `from` into this, beginning with number `first`.
  void copy_in(std::uint64_t first, std::uint64_t bytes, const std::byte* from) const;
  /// Copies `bytes` bytes, beginning with number `first`, to (`write`) or from address `remote` of
  /// process `process`.
  Error copy(NodeServices& services, int process, bool write, std::uint64_t first,
             std::uint64_t bytes, std::uint64_t remote) const;

 private:
  Error copy_packed(NodeServices& services, int process, bool write, std::uint64_t first,
                    std::uint64_t bytes, std::uint64_t remote) const;

  Buffer buffer_;
  std::uint64_t first_ = 0;  // number of the stretch's first byte in the buffer
  std::uint64_t bytes_ = 0;
  std::byte* run_ = nullptr;
};

/// Copies the bytes of `from` to `to`, as many as the shorter of the two has.
void copy(const Packed& from, const Packed& to);

}  // namespace oriel
