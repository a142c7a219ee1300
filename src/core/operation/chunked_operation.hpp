// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/reduction.hpp"
#include "core/operation/strided_blocks.hpp"

namespace oriel {

/// A part of an operation: `bytes` bytes from byte number `first` on. They are one run at the
/// origin and one run or whole blocks at the target.
struct Chunk {
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
};

/// The blocks of an operation in the target's memory: `bytes` bytes each, `stride` bytes apart. If
/// `bytes` is 0, the operation is one run.
struct BlockSpacing {
  std::uint64_t bytes = 0;
  std::uint64_t stride = 0;

  bool one_run() const { return bytes == 0; }
  /// The offset of the block that begins with the operation's byte number `first`.
  std::uint64_t offset(std::uint64_t first) const {
    return one_run() ? first : first / bytes * stride;
  }
};

/// A long put, get or accumulate on private memory, divided into chunks. The bytes are one run in
/// the origin's memory, and one run or strided blocks in the target's. The origin and the owner of
/// the memory carry out chunks at the same time, each by system calls on the other's memory.
///
/// One run: the origin makes one system call for a chunk, two for an accumulate; the owner makes
/// one. A chunk is a quarter of the operation, in whole pages, within limits, so that a process
/// that begins late or is slower carries out fewer. Lower limit: the fixed part of a system call
/// takes as long as copying 10 to 20 KB (Intel Xeon, Zen 3), so shorter chunks gain nothing. Upper
/// limit: a chunk delays what its owner waits for, 256 KB by some 10 to 20 us; and 64 KB of an
/// accumulate stay in the second-level cache between the system call and the combination.
///
/// Blocks: the origin makes one system call for 64 blocks (two for an accumulate), some 200 ns a
/// block; the owner makes one for a chunk. The origin therefore draws no chunks while the owner
/// does, and a chunk has up to 512 blocks.
class ChunkedOperation {
 public:
  /// Bytes of private memory that an accumulate combines at a time.
  static constexpr std::uint64_t most_combined = std::uint64_t{64} * 1024;

  /// True if a put or get, or an accumulate, of this many bytes makes two chunks or more.
  static bool divides_move(std::uint64_t bytes) { return bytes >= 2 * least_moved; }
  static bool divides_accumulate(std::uint64_t bytes) { return bytes >= 2 * least_combined; }
  /// True if a put or accumulate to these blocks is divided into chunks. System calls for longer
  /// blocks take hardly longer than copying them.
  static bool divides_blocks(const StridedBlocks& strided) {
    return strided.blocks >= least_blocks && strided.bytes <= longest_block &&
           strided.from_one_run();
  }

  ChunkedOperation() = default;
  static ChunkedOperation move(bool write, std::uint64_t address, const void* origin,
                               std::uint64_t bytes) {
    return {write ? OperationKind::put : OperationKind::get, {}, address, {}, origin, bytes,
            quarter_of(bytes, least_moved, most_moved)};
  }
  static ChunkedOperation accumulate(const Reduction& reduction, std::uint64_t address,
                                     const void* origin, std::uint64_t bytes) {
    const std::uint64_t chunk = quarter_of(bytes, least_combined, most_combined);
    return {OperationKind::accumulate,        reduction, address, {}, origin, bytes,
            chunk - chunk % reduction.element};
  }
  /// A put to blocks; the first one is at `address`.
  static ChunkedOperation scatter(std::uint64_t address, const StridedBlocks& strided,
                                  const void* origin) {
    return {OperationKind::put, {}, address, strided, origin};
  }
  static ChunkedOperation accumulate(const Reduction& reduction, std::uint64_t address,
                                     const StridedBlocks& strided, const void* origin) {
    return {OperationKind::accumulate, reduction, address, strided, origin};
  }

  std::uint32_t chunks() const {
    return static_cast<std::uint32_t>((bytes_ + chunk_bytes_ - 1) / chunk_bytes_);
  }
  Chunk chunk(std::uint32_t number) const {
    const std::uint64_t first = number * chunk_bytes_;
    return {first, std::min(chunk_bytes_, bytes_ - first)};
  }
  /// True if loads and stores of the owner access the memory; otherwise only the kernel accesses
  /// it.
  bool stored_by_owner() const { return updates(kind_) || !blocks_.one_run(); }
  /// How long the origin's system calls for one chunk of blocks take, as a number of system calls
  /// for one run: a block takes a quarter of one. 0 for one run.
  std::uint64_t calls_saved_per_chunk() const {
    return blocks_.one_run() ? 0 : chunk_bytes_ / blocks_.bytes / 4;
  }
  /// True if reachable(address, bytes) is true for every block of the chunk. Blocks at distances of
  /// less than a page are checked as one range.
  template <typename Reachable>
  bool reaches_only(const Chunk& chunk, Reachable&& reachable) const {
    const std::uint64_t first = address(chunk);
    if (blocks_.one_run()) return reachable(first, chunk.bytes);
    const std::uint64_t end = chunk.bytes / blocks_.bytes * blocks_.stride;
    if (blocks_.stride < page) return reachable(first, end - blocks_.stride + blocks_.bytes);
    for (std::uint64_t offset = 0; offset != end; offset += blocks_.stride) {
      if (!reachable(first + offset, blocks_.bytes)) return false;
    }
    return true;
  }

  /// Carries out a chunk in the origin's process. copy(write, here, there, bytes, stride) copies
  /// the chunk between contiguous memory and the owner's: `bytes` bytes at `there`, and as many at
  /// each further multiple of `stride`, until the chunk is complete. `space`: most_combined bytes,
  /// for an accumulate.
  template <typename Copy>
  Error carry_out_at_origin(const Chunk& chunk, std::byte* space, Copy&& copy) const {
    auto* const here =
        reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(origin_)) + chunk.first;
    const std::uint64_t bytes = blocks_.one_run() ? chunk.bytes : blocks_.bytes;
    const auto move = [&](bool write, std::byte* local) {
      return copy(write, local, address(chunk), bytes, blocks_.stride);
    };
    if (!updates(kind_)) return move(kind_ == OperationKind::put, here);
    if (const Error error = move(false, space); error != Error::none) return error;
    reduce_plain(reduction_, space, here, nullptr, chunk.bytes / reduction_.element);
    return move(true, space);
  }

  /// Carries out a chunk in the owner's process. transfer(write, here, there, bytes) copies into
  /// (`write`) or out of the origin's memory. False if a transfer failed; then the owner has stored
  /// nothing. `space`: most_combined bytes, used if stored_by_owner().
  template <typename Transfer>
  bool carry_out(const Chunk& chunk, std::byte* space, Transfer&& transfer) const {
    auto* const here = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address(chunk)));
    const std::uint64_t there = origin_ + chunk.first;
    if (!stored_by_owner()) return transfer(kind_ == OperationKind::get, here, there, chunk.bytes);
    if (!transfer(false, space, there, chunk.bytes)) return false;
    if (blocks_.one_run()) {
      reduce_plain(reduction_, here, space, nullptr, chunk.bytes / reduction_.element);
      return true;
    }
    const auto stride = static_cast<std::int64_t>(blocks_.stride);
    const auto length = static_cast<std::int64_t>(blocks_.bytes);
    const std::uint64_t count = chunk.bytes / blocks_.bytes;
    if (updates(kind_)) {
      reduce_blocks(reduction_, here, stride, space, blocks_.bytes, count);
    } else {
      copy_blocks(here, stride, space, length, blocks_.bytes, count);
    }
    return true;
  }

 private:
  static constexpr std::uint64_t page = 4096;
  static constexpr std::uint64_t least_moved = std::uint64_t{32} * 1024;
  static constexpr std::uint64_t most_moved = std::uint64_t{256} * 1024;
  static constexpr std::uint64_t least_combined = std::uint64_t{8} * 1024;
  static constexpr std::uint64_t least_blocks = 8;
  static constexpr std::uint64_t most_blocks = 512;
  static constexpr std::uint64_t longest_block = 512;

  ChunkedOperation(OperationKind kind, const Reduction& reduction, std::uint64_t address,
                   const BlockSpacing& blocks, const void* origin, std::uint64_t bytes,
                   std::uint64_t chunk_bytes)
      : kind_(kind),
        reduction_(reduction),
        address_(address),
        blocks_(blocks),
        origin_(reinterpret_cast<std::uintptr_t>(origin)),
        bytes_(bytes),
        chunk_bytes_(chunk_bytes) {}
  ChunkedOperation(OperationKind kind, const Reduction& reduction, std::uint64_t address,
                   const StridedBlocks& strided, const void* origin)
      : ChunkedOperation(kind, reduction, address,
                         {strided.bytes, static_cast<std::uint64_t>(strided.their_stride)}, origin,
                         strided.blocks * strided.bytes,
                         std::min({strided.blocks, most_blocks, most_combined / strided.bytes}) *
                             strided.bytes) {}

  static std::uint64_t quarter_of(std::uint64_t bytes, std::uint64_t least, std::uint64_t most) {
    return std::clamp((bytes / 4 + page - 1) / page * page, least, most);
  }

  std::uint64_t address(const Chunk& chunk) const { return address_ + blocks_.offset(chunk.first); }

  OperationKind kind_ = OperationKind::put;
  Reduction reduction_;
  std::uint64_t address_ = 0;  // in the owner's process
  BlockSpacing blocks_;        // in the owner's process
  std::uint64_t origin_ = 0;   // address of the same bytes in the origin's process
  std::uint64_t bytes_ = 0;
  std::uint64_t chunk_bytes_ = 1;  // of each chunk but the last
};

}  // namespace oriel
