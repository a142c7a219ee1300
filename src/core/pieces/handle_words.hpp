// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"
#include "core/operation/operation.hpp"
#include "core/pieces/range_words.hpp"

namespace oriel {

/// One memory handle, or a free slot. The owner stores the token last (release) when it creates the
/// handle, and stores another token, or 0, before it changes the other words. A reader that reads
/// one token before and after the other words (each load acquires) has read the words of that
/// token. Zeroed memory is a free slot.
struct alignas(cache_line) HandleSlot {
  std::atomic<std::uint64_t> token{0};
  BasicRangeWords<SharedWords> memory;
};

/// The memory handles that one rank has created on a dynamic window: segments of slots, each twice
/// as large as the previous one, so that no slot ever moves.
struct alignas(cache_line) HandleRoot {
  static constexpr std::size_t most_segments = 18;
  static constexpr std::uint32_t first_slots = 16;  // less than a page, as PieceRoot::first_nodes
  static constexpr std::uint32_t most_slots = first_slots * ((1U << most_segments) - 1);

  std::array<BasicLocationWords<SharedWords>, most_segments> segments;

  static constexpr std::size_t segment_of(std::uint32_t slot) {
    return static_cast<std::size_t>(std::bit_width(slot + first_slots) -
                                    std::bit_width(first_slots));
  }
  static constexpr std::size_t slots_of(std::size_t segment) {
    return std::size_t{first_slots} << segment;
  }
  /// The index of a slot in its segment.
  static constexpr std::size_t index_of(std::uint32_t slot) {
    return slot + first_slots - slots_of(segment_of(slot));
  }
};

static_assert(sizeof(HandleSlot) == cache_line);
static_assert(std::is_trivially_destructible_v<HandleSlot> &&
              std::is_trivially_destructible_v<HandleRoot>);

}  // namespace oriel
