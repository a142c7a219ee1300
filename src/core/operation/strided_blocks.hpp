// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/copies.hpp"
#include "core/operation/layout.hpp"
#include "core/operation/reduction.hpp"

namespace oriel {

/// Blocks of one length that a put or get moves, at equal distances on both sides, as a vector
/// datatype has them. Offsets are relative to the start of the first element of each side.
struct StridedBlocks {
  std::int64_t theirs;
  std::int64_t their_stride;
  std::int64_t ours;
  std::int64_t our_stride;
  std::uint64_t bytes;
  std::uint64_t blocks;

  /// True if the target's blocks do not overlap and the origin's bytes are one run.
  bool from_one_run() const {
    const auto length = static_cast<std::int64_t>(bytes);
    return their_stride >= length && our_stride == length;
  }
};

namespace strided {

/// Calls visit(StridedBlocks) for every part of a transfer of `bytes` bytes between an even layout,
/// which is the target's, and contiguous memory.
template <typename Visit>
void visit_even(const Layout& layout, std::uint64_t bytes, Visit&& visit) {
  const std::uint64_t length = layout.blocks().front().length;
  // Elements that continue at the same stride are visited together.
  const std::uint64_t blocks_each =
      layout.evenly_repeated() ? bytes / length + 1 : layout.blocks().size();
  std::int64_t offset = layout.blocks().front().offset;
  std::uint64_t first = 0;
  while (first != bytes) {
    const std::uint64_t blocks = std::min((bytes - first) / length, blocks_each);
    const auto ours = static_cast<std::int64_t>(first);
    if (blocks != 0) {
      visit(StridedBlocks{offset, layout.stride(), ours, static_cast<std::int64_t>(length), length,
                          blocks});
    }
    first += blocks * length;
    // The data may end within a block.
    if (blocks < blocks_each && first != bytes) {
      const std::int64_t last = offset + static_cast<std::int64_t>(blocks) * layout.stride();
      visit(StridedBlocks{last, 0, static_cast<std::int64_t>(first), 0, bytes - first, 1});
      return;
    }
    offset += layout.extent();
  }
}

}  // namespace strided

/// Calls visit(StridedBlocks) for every part of a transfer between two layouts, up to the end of
/// the shorter side. If one side is contiguous and the other even, a part has as many blocks as
/// possible; else each run is a part of one block.
template <typename Visit>
void for_each_strided(const Elements& theirs, const Elements& ours, Visit&& visit) {
  const std::uint64_t bytes =
      std::min(theirs.count * theirs.layout.size(), ours.count * ours.layout.size());
  const bool contiguous_there = theirs.layout.contiguous();
  const bool contiguous_here = ours.layout.contiguous();
  if (theirs.layout.even() && contiguous_here && !contiguous_there) {
    strided::visit_even(theirs.layout, bytes, visit);
  } else if (ours.layout.even() && contiguous_there && !contiguous_here) {
    strided::visit_even(ours.layout, bytes, [&](StridedBlocks parts) {
      std::swap(parts.theirs, parts.ours);
      std::swap(parts.their_stride, parts.our_stride);
      visit(parts);
    });
  } else {
    for_each_run(BlockCursor(theirs), BlockCursor(ours),
                 [&](std::int64_t there, std::int64_t here, std::uint64_t run) {
                   visit(StridedBlocks{there, 0, here, 0, run, 1});
                 });
  }
}

/// The transfer as a single part. nullopt if it has several parts, or if neither side is contiguous
/// and it is not one run.
inline std::optional<StridedBlocks> only_strided(const Elements& theirs, const Elements& ours) {
  const BlockCursor there(theirs);
  const BlockCursor here(ours);
  const std::uint64_t bytes = std::min(there.remaining(), here.remaining());
  if (bytes == 0) return {};
  if (there.run() >= bytes && here.run() >= bytes) {
    return StridedBlocks{there.offset(), 0, here.offset(), 0, bytes, 1};
  }
  const Elements& spread = theirs.layout.contiguous() ? ours : theirs;
  const Elements& other = theirs.layout.contiguous() ? theirs : ours;
  if (!spread.layout.even() || !other.layout.contiguous() ||
      (spread.count != 1 && !spread.layout.evenly_repeated())) {
    return {};
  }
  std::optional<StridedBlocks> only;
  bool more = false;  // the data ends within a block
  for_each_strided(theirs, ours, [&](const StridedBlocks& strided) {
    more = only.has_value();
    only = strided;
  });
  return more ? std::nullopt : only;
}

/// Copies the blocks in order. Within a block, source and destination may overlap.
inline void copy_blocks(std::byte* to, std::int64_t to_stride, const std::byte* from,
                        std::int64_t from_stride, std::uint64_t bytes, std::uint64_t blocks) {
  const auto each = [&](auto&& copy) {
    for (; blocks != 0; --blocks) {
      copy(to, from);
      to += to_stride;
      from += from_stride;
    }
  };
  const auto by = [&]<typename Word>(Word word) {
    each([word](std::byte* into, const std::byte* out) mutable {
      std::memcpy(&word, out, sizeof word);
      std::memcpy(into, &word, sizeof word);
    });
  };
  switch (bytes) {
    case 1:
      return by(std::uint8_t{});
    case 2:
      return by(std::uint16_t{});
    case 4:
      return by(std::uint32_t{});
    case 8:
      return by(std::uint64_t{});
    default:
      each([bytes](std::byte* into, const std::byte* out) { short_copy(into, out, bytes); });
  }
}

/// Combines operands in one run into blocks that do not overlap. It calls reduce_plain() for a
/// batch of blocks at a time, which takes little longer than for one block.
inline void reduce_blocks(const Reduction& reduction, std::byte* to, std::int64_t stride,
                          const std::byte* operands, std::uint64_t bytes, std::uint64_t blocks) {
  alignas(16) std::array<std::byte, 4096> batch;
  const auto length = static_cast<std::int64_t>(bytes);
  const std::uint64_t most = batch.size() / bytes;
  while (blocks != 0) {
    const std::uint64_t count = std::min(blocks, std::max<std::uint64_t>(most, 1));
    const std::uint64_t elements = count * bytes / reduction.element;
    if (count == 1) {
      reduce_plain(reduction, to, operands, nullptr, elements);
    } else {
      copy_blocks(batch.data(), length, to, stride, bytes, count);
      reduce_plain(reduction, batch.data(), operands, nullptr, elements);
      copy_blocks(to, stride, batch.data(), length, bytes, count);
    }
    to += static_cast<std::int64_t>(count) * stride;
    operands += count * bytes;
    blocks -= count;
  }
}

}  // namespace oriel
