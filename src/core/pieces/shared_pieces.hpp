// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/base/shared_words.hpp"
#include "core/operation/operation.hpp"
#include "core/transport/memory_range.hpp"

namespace oriel {

/// A bijection whose results show no pattern of its arguments: the finalizer of SplitMix64.
constexpr std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/// An ArenaLocation in shared words. Its owner stores it once. Zeroed words: there is none yet.
template <typename Words>
struct BasicLocationWords {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  void set(const ArenaLocation& location) {
    offset.store(location.offset, std::memory_order_release);
    extent_bytes.store(location.extent_bytes, std::memory_order_release);
  }
  /// The whole location, or none yet, because the word that is stored last is read first.
  ArenaLocation get(std::memory_order order = std::memory_order_acquire) const {
    const std::uint64_t extent = extent_bytes.load(order);
    return {offset.load(order), extent};
  }

  Atomic<std::uint64_t> offset{0};
  Atomic<std::uint64_t> extent_bytes{0};
};

/// How entries with numbers from 0 on are divided into segments, each twice as large as the
/// previous one, so that no entry ever moves. The first one has less than a page, because
/// allocating and freeing a page would take most of a short window's life.
struct DoublingSegments {
  static constexpr std::uint32_t first = 16;

  struct Spot {
    std::size_t segment;
    std::size_t index;
  };
  static constexpr Spot spot(std::uint32_t number) {
    const auto segment =
        static_cast<std::size_t>(std::bit_width(number + first) - std::bit_width(first));
    return {segment, number + first - entries(segment)};
  }
  static constexpr std::size_t entries(std::size_t segment) {
    return std::size_t{first} << segment;
  }
};

/// A MemoryRange in shared words, which its owner may change. Another word shows readers whether
/// the words that they have read belong together. So each store releases, and each load of a reader
/// acquires.
template <typename Words>
struct BasicRangeWords {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  void set(const MemoryRange& range) {
    address.store(range.address, std::memory_order_release);
    bytes.store(range.bytes, std::memory_order_release);
    location.set(range.location);
  }
  /// `order`: acquire; the owner, which reads its own stores, may use relaxed.
  MemoryRange get(std::memory_order order) const {
    return {address.load(order), bytes.load(order), location.get(order)};
  }

  Atomic<std::uint64_t> address{0};
  Atomic<std::uint64_t> bytes{0};
  BasicLocationWords<Words> location;
};

/// One piece, attached or detached, as a node of a search tree by addresses. Only the owner writes
/// it, and never while it can be reached from the top: see BasicPieceRoot.
template <typename Words>
struct alignas(cache_line) BasicPieceNode {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  /// Numbers of nodes; 0: none.
  struct Children {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
  };

  void set(Children two) {
    children.store(std::bit_cast<std::uint64_t>(two), std::memory_order_release);
  }

  /// `order`: see BasicRangeWords::get().
  Children read_children(std::memory_order order) const {
    return std::bit_cast<Children>(children.load(order));
  }

  BasicRangeWords<Words> piece;
  Atomic<std::uint64_t> detached{0};  // the number of the piece's detach; 0: it is attached
  Atomic<std::uint64_t> children{0};  // both Children, stored at once
};

/// The pieces that one rank has attached to a dynamic window, and those that it has detached and
/// not forgotten: a tree of nodes that its node peers read without a lock.
/// - The owner changes no node that can be reached from the top. It builds the nodes on the way to
///   a change anew, and then stores another top (release).
/// - A node that can no longer be reached may be rebuilt for the next change. A reader of such a
///   node reads the top again, sees another one (each store to a node releases, each load
///   acquires), and starts again.
/// - So readers do not wait for the owner, nor the owner for readers. If the owner is killed
///   between any two stores, the tree is intact.
template <typename Words>
struct alignas(cache_line) BasicPieceRoot {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  static constexpr std::size_t most_segments = 20;

  /// The number of the top node in the low bits, and a version above them. No two tops are equal.
  Atomic<std::uint64_t> top{0};
  /// A segment's location is stored before any of its nodes can be reached, and never changes.
  std::array<BasicLocationWords<Words>, most_segments> segments;

  static constexpr unsigned number_bits = 24;
  static constexpr std::uint32_t number_of(std::uint64_t top) {
    return static_cast<std::uint32_t>(top & ((std::uint64_t{1} << number_bits) - 1));
  }
  static constexpr std::uint64_t next(std::uint64_t top, std::uint32_t number) {
    return (((top >> number_bits) + 1) << number_bits) | number;
  }

  static constexpr DoublingSegments::Spot spot(std::uint32_t number) {
    return DoublingSegments::spot(number - 1);
  }
};

using PieceNode = BasicPieceNode<SharedWords>;
using PieceRoot = BasicPieceRoot<SharedWords>;

static_assert(sizeof(PieceNode) == cache_line);
static_assert(std::is_trivially_destructible_v<PieceNode> &&
              std::is_trivially_destructible_v<PieceRoot>);
static_assert(DoublingSegments::first * ((std::uint64_t{1} << PieceRoot::most_segments) - 1) <
              std::uint64_t{1} << PieceRoot::number_bits);

enum class PieceSearch : std::uint8_t {
  none,        // no piece begins at the address or before it
  found,       // the last piece that begins at the address or before it
  detached,    // as found, but its owner has detached the piece
  unreachable  // a segment cannot be mapped
};

/// Finds the last piece that begins at `address` or before it, among the pieces of one moment
/// during the call; `top` is the top of that moment. `nodes(segment)`: the nodes of a
/// segment, or null if it cannot be mapped.
template <typename Words, typename Nodes>
PieceSearch find_piece(const BasicPieceRoot<Words>& root, Nodes&& nodes, std::uint64_t address,
                       MemoryRange& piece, std::uint64_t& top) {
  using Root = BasicPieceRoot<Words>;
  for (const typename Words::Loop loop;; loop.again()) {
    top = root.top.load(std::memory_order_acquire);
    const BasicPieceNode<Words>* best = nullptr;
    // Nodes that are being rebuilt may form a cycle. The top has changed then.
    constexpr unsigned usual_depth = 256;
    unsigned depth = 0;
    for (std::uint32_t number = Root::number_of(top); number != 0;) {
      if (++depth % usual_depth == 0 && root.top.load(std::memory_order_relaxed) != top) break;
      const auto [segment, index] = Root::spot(number);
      const BasicPieceNode<Words>* first = nodes(segment);
      if (first == nullptr) return PieceSearch::unreachable;
      const BasicPieceNode<Words>& node = first[index];
      const bool before = node.piece.address.load(std::memory_order_acquire) <= address;
      if (before) best = &node;
      const auto [left, right] = node.read_children(std::memory_order_acquire);
      number = before ? right : left;
    }
    bool detached = false;
    if (best != nullptr) {
      piece = best->piece.get(std::memory_order_acquire);
      detached = best->detached.load(std::memory_order_acquire) != 0;
    }
    if (root.top.load(std::memory_order_relaxed) == top) {
      if (best == nullptr) return PieceSearch::none;
      return detached ? PieceSearch::detached : PieceSearch::found;
    }
  }
}

/// One memory handle, or a free slot. The owner stores the token last (release) when it creates the
/// handle, and stores another token, or 0, before it changes the other words. A reader that reads
/// one token before and after the other words (each load acquires) has read the words of that
/// token. Zeroed memory is a free slot.
struct alignas(cache_line) HandleSlot {
  std::atomic<std::uint64_t> token{0};
  BasicRangeWords<SharedWords> memory;
};

/// The memory handles that one rank has created on a dynamic window, in segments of slots.
struct alignas(cache_line) HandleRoot {
  static constexpr std::size_t most_segments = 18;
  static constexpr std::uint32_t most_slots = DoublingSegments::first * ((1U << most_segments) - 1);

  std::array<BasicLocationWords<SharedWords>, most_segments> segments;
};

static_assert(sizeof(HandleSlot) == cache_line);
static_assert(std::is_trivially_destructible_v<HandleSlot> &&
              std::is_trivially_destructible_v<HandleRoot>);

/// The words in which a rank of a dynamic window describes its memory to its node. Zeroed memory:
/// no piece attached, no handle created.
struct SharedPieces {
  PieceRoot attached;
  HandleRoot handles;
};

}  // namespace oriel
