// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/operation/operation.hpp"
#include "core/operation/reduction.hpp"

namespace oriel {

/// A part of an operation whose bytes are in one run on both sides.
struct Chunk {
  std::uint64_t first = 0;  // from its start
  std::uint64_t bytes = 0;
};

/// A long put, get or accumulate in one run on private memory, divided into chunks. Its origin
/// carries out some of the chunks and the owner of the memory the others, at the same time, each by
/// system calls on the other's memory: one for a chunk, or two where the origin accumulates.
///
/// A quarter of the operation is a chunk, in whole pages, within limits: a process that begins late
/// or is slower then carries out fewer. Least: the fixed part of a system call takes as long as
/// copying 10 to 20 KB (Intel Xeon, Zen 3), so shorter chunks gain nothing. Most: a chunk keeps its
/// owner from what it waits for, 256 KB some 10 to 20 us; and 64 KB of an accumulate stay in the
/// second-level cache between the system call and the combination.
class ChunkedOperation {
 public:
  /// Bytes of private memory that an accumulate combines at a time.
  static constexpr std::uint64_t most_combined = std::uint64_t{64} * 1024;

  /// Whether so many bytes of a put or get, or of an accumulate, make two chunks.
  static bool takes_move(std::uint64_t bytes) { return bytes >= 2 * least_moved; }
  static bool takes_accumulate(std::uint64_t bytes) { return bytes >= 2 * least_combined; }

  ChunkedOperation() = default;
  static ChunkedOperation move(bool write, std::uint64_t address, const void* origin,
                               std::uint64_t bytes) {
    return {write ? OperationKind::put : OperationKind::get,
            {Op::replace, Basic::none, 1},
            address,
            origin,
            bytes,
            quarter_of(bytes, least_moved, most_moved)};
  }
  static ChunkedOperation accumulate(const Reduction& reduction, std::uint64_t address,
                                     const void* origin, std::uint64_t bytes) {
    const std::uint64_t chunk = quarter_of(bytes, least_combined, most_combined);
    return {OperationKind::accumulate,        reduction, address, origin, bytes,
            chunk - chunk % reduction.element};
  }

  std::uint32_t chunks() const {
    return static_cast<std::uint32_t>((bytes_ + chunk_bytes_ - 1) / chunk_bytes_);
  }
  Chunk chunk(std::uint32_t number) const {
    const std::uint64_t first = number * chunk_bytes_;
    return {first, std::min(chunk_bytes_, bytes_ - first)};
  }
  /// Where its owner has a chunk.
  std::uint64_t address(const Chunk& chunk) const { return address_ + chunk.first; }
  /// Whether the owner's own loads and stores access a chunk; else only the kernel does.
  bool combines() const { return updates(kind_); }

  /// In the owner's process, by transfer(write, here, there, bytes) into (`write`) or out of the
  /// origin's memory. False: that has failed, and an accumulate has changed nothing. `space`: of
  /// most_combined bytes, for an accumulate.
  template <typename Transfer>
  bool carry_out(const Chunk& chunk, std::byte* space, Transfer&& transfer) const {
    auto* const here = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address(chunk)));
    const std::uint64_t there = origin_ + chunk.first;
    if (!combines()) return transfer(kind_ == OperationKind::get, here, there, chunk.bytes);
    if (!transfer(false, space, there, chunk.bytes)) return false;
    reduce_plain(reduction_, here, space, nullptr, chunk.bytes / reduction_.element);
    return true;
  }

 private:
  static constexpr std::uint64_t least_moved = std::uint64_t{32} * 1024;
  static constexpr std::uint64_t most_moved = std::uint64_t{256} * 1024;
  static constexpr std::uint64_t least_combined = std::uint64_t{8} * 1024;

  ChunkedOperation(OperationKind kind, const Reduction& reduction, std::uint64_t address,
                   const void* origin, std::uint64_t bytes, std::uint64_t chunk_bytes)
      : kind_(kind),
        reduction_(reduction),
        address_(address),
        origin_(reinterpret_cast<std::uintptr_t>(origin)),
        bytes_(bytes),
        chunk_bytes_(chunk_bytes) {}

  static std::uint64_t quarter_of(std::uint64_t bytes, std::uint64_t least, std::uint64_t most) {
    constexpr std::uint64_t page = 4096;
    return std::clamp((bytes / 4 + page - 1) / page * page, least, most);
  }

  OperationKind kind_ = OperationKind::put;
  Reduction reduction_;
  std::uint64_t address_ = 0;  // in the owner's process
  std::uint64_t origin_ = 0;   // of the same bytes in the origin's process
  std::uint64_t bytes_ = 0;
  std::uint64_t chunk_bytes_ = 1;  // of each but the last
};

}  // namespace oriel
