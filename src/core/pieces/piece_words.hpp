// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"
#include "core/pieces/range_words.hpp"

namespace oriel {

/// One attached piece, in a search tree by addresses. Written by its owner alone, and never while
/// it can be reached from the top: see BasicPieceRoot.
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
  Atomic<std::uint64_t> children{0};  // Children, changed as one
};

/// The pieces that one rank has attached to a dynamic window, as its node peers read them without
/// asking: a tree of nodes. Its owner changes nothing that can be reached from the top, but builds
/// the nodes on the way to the change anew and stores another top (release). A node that is not
/// reached any more may be built anew for the change after that: who has read it sees another top
/// when it looks again (each store to a node releases, each load acquires), and begins again. So no
/// reader waits for the owner, nor the owner for readers, and an owner that is killed between any
/// two stores leaves a tree behind.
template <typename Words>
struct alignas(cache_line) BasicPieceRoot {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  static constexpr std::size_t most_segments = 20;
  /// Less than a page: what a page takes to come and go would be most of a short window's life.
  static constexpr std::uint32_t first_nodes = 16;

  /// The number of the top node in its low bits, and a version above: no two are the same.
  Atomic<std::uint64_t> top{0};
  /// Segments of nodes double, so that none ever moves. Each is stored before a node of it is
  /// reached; what a reader has found of one stays true.
  std::array<BasicLocationWords<Words>, most_segments> segments;

  static constexpr unsigned number_bits = 24;
  static constexpr std::uint32_t number_of(std::uint64_t top) {
    return static_cast<std::uint32_t>(top & ((std::uint64_t{1} << number_bits) - 1));
  }
  static constexpr std::uint64_t next(std::uint64_t top, std::uint32_t number) {
    return (((top >> number_bits) + 1) << number_bits) | number;
  }

  /// Where the node of a number lies.
  struct Spot {
    std::size_t segment;
    std::size_t index;
  };
  static constexpr Spot spot(std::uint32_t number) {
    const std::uint32_t shifted = number - 1 + first_nodes;
    const auto segment =
        static_cast<std::size_t>(std::bit_width(shifted) - std::bit_width(first_nodes));
    return {segment, shifted - nodes_of(segment)};
  }
  static constexpr std::size_t nodes_of(std::size_t segment) {
    return std::size_t{first_nodes} << segment;
  }
};

using PieceNode = BasicPieceNode<SharedWords>;
using PieceRoot = BasicPieceRoot<SharedWords>;

static_assert(sizeof(PieceNode) == cache_line);
static_assert(std::is_trivially_destructible_v<PieceNode> &&
              std::is_trivially_destructible_v<PieceRoot>);
static_assert(PieceRoot::first_nodes * ((std::uint64_t{1} << PieceRoot::most_segments) - 1) <
              std::uint64_t{1} << PieceRoot::number_bits);

enum class PieceSearch : std::uint8_t {
  none,        // no piece begins there or before
  found,       // the last that does
  unreachable  // a segment cannot be mapped
};

/// What is attached at the address or before it, of the pieces that were attached at one moment of
/// the call; `top` is theirs. `nodes`: of a segment, or null where it cannot be mapped.
template <typename Words, typename Nodes>
PieceSearch find_piece(const BasicPieceRoot<Words>& root, Nodes&& nodes, std::uint64_t address,
                       MemoryRange& piece, std::uint64_t& top) {
  using Root = BasicPieceRoot<Words>;
  using Node = BasicPieceNode<Words>;
  for (const typename Words::Loop loop;; loop.again()) {
    top = root.top.load(std::memory_order_acquire);
    const Node* best = nullptr;
    // A node that is being built anew may lead round in a circle. Then the top is another one.
    constexpr unsigned usual_depth = 256;
    unsigned depth = 0;
    for (std::uint32_t number = Root::number_of(top); number != 0;) {
      if (++depth % usual_depth == 0 && root.top.load(std::memory_order_relaxed) != top) break;
      const auto [segment, index] = Root::spot(number);
      const Node* first = nodes(segment);
      if (first == nullptr) return PieceSearch::unreachable;
      const Node& node = first[index];
      const bool before = node.piece.address.load(std::memory_order_acquire) <= address;
      if (before) best = &node;
      const auto [left, right] = node.read_children(std::memory_order_acquire);
      number = before ? right : left;
    }
    if (best != nullptr) piece = best->piece.get(std::memory_order_acquire);
    if (root.top.load(std::memory_order_relaxed) == top) {
      return best == nullptr ? PieceSearch::none : PieceSearch::found;
    }
  }
}

}  // namespace oriel
