// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/collective/schedule.hpp"
#include "core/operation/operation.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The bytes of a stretch by their number, whatever its datatype: as they travel.
class Packed {
 public:
  Packed() = default;
  explicit Packed(const Stretch& stretch);

  std::uint64_t bytes() const { return bytes_; }
  /// Where they lie in one run; null: they do not.
  std::byte* run() const { return run_; }
  /// Of the predefined datatype that all of it is made of.
  Basic basic() const { return buffer_.layout ? buffer_.layout->basic() : Basic::none; }

  /// Copies `bytes` bytes from number `first` on to another address, or from there.
  void copy_out(std::uint64_t first, std::uint64_t bytes, std::byte* to) const;
  /// Likewise by stream_copy(), where it is one run.
  void stream_out(std::uint64_t first, std::uint64_t bytes, std::byte* to) const;
  void copy_in(std::uint64_t first, std::uint64_t bytes, const std::byte* from) const;
  /// Likewise to (`write`) or from an address of another process.
  Error copy(NodeServices& services, int process, bool write, std::uint64_t first,
             std::uint64_t bytes, std::uint64_t remote) const;

 private:
  Error copy_packed(NodeServices& services, int process, bool write, std::uint64_t first,
                    std::uint64_t bytes, std::uint64_t remote) const;

  Buffer buffer_;
  std::uint64_t first_ = 0;  // of the buffer's bytes
  std::uint64_t bytes_ = 0;
  std::byte* run_ = nullptr;
};

/// From one buffer to another one, as many bytes as both have.
void copy(const Packed& from, const Packed& to);

}  // namespace oriel
