// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/collective/schedule.hpp"
#include "core/operation/operation.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

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
  /// Copies such bytes to (`write`) or from address `remote` of another process.
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

/// Copies as many bytes as both stretches have.
void copy(const Packed& from, const Packed& to);

}  // namespace oriel
