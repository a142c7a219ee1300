// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/pieces/mixed.hpp"
#include "core/pieces/piece_words.hpp"

namespace oriel {

/// The owner's side of a PieceRoot: a treap whose priorities are hashes of the addresses, so that a
/// piece is found, attached and detached in O(log n) steps whatever the order of the calls.
///
/// `Segments` has take(segment, location): the nodes of a segment, zeroed, or null.
template <typename Words, typename Segments>
class BasicPieceTree {
 public:
  using Root = BasicPieceRoot<Words>;
  using Node = BasicPieceNode<Words>;

  BasicPieceTree(Root& root, Segments& segments) : root_(root), segments_(segments) {}

  /// Space for an attach(), which builds one node more than are reached, at most, and takes one
  /// for good: so it leaves some for the detach() of each. False: there is no memory left.
  bool reserve() {
    if (space() > std::min(reached(), most_changed)) return true;
    if (used_segments_ == Root::most_segments) return false;
    ArenaLocation location;
    Node* nodes = segments_.take(used_segments_, location);
    if (nodes == nullptr) return false;
    root_.segments[used_segments_].set(location);
    nodes_[used_segments_++] = nodes;
    capacity_ += static_cast<std::uint32_t>(Root::nodes_of(used_segments_ - 1));
    return true;
  }

  /// After reserve(), of a piece of some bytes that overlaps none.
  void attach(const MemoryRange& piece) { publish(insert(Root::number_of(top_), piece)); }

  /// Of the piece that begins at the address. It has always space: in the end it takes no nodes,
  /// but gives one back.
  void detach(std::uint64_t address) { publish(erase(Root::number_of(top_), address)); }

  /// The last piece that begins at the address or before it. False: there is none.
  bool find(std::uint64_t address, MemoryRange& piece) {
    std::uint32_t best = 0;
    for (std::uint32_t number = Root::number_of(top_); number != 0;) {
      const bool before = address_of(number) <= address;
      if (before) best = number;
      number = before ? children_of(number).right : children_of(number).left;
    }
    if (best == 0) return false;
    piece = at(best).piece.get(std::memory_order_relaxed);
    return true;
  }

 private:
  using Children = typename Node::Children;

  /// Nodes that one change may build anew: as deep as no tree is whose priorities are hashes.
  static constexpr std::size_t most_changed = 96;

  std::size_t space() const { return free_.size() + (capacity_ - made_); }
  std::size_t reached() const { return made_ - free_.size(); }
  Node& at(std::uint32_t number) {
    const auto [segment, index] = Root::spot(number);
    return nodes_[segment][index];
  }
  std::uint64_t address_of(std::uint32_t number) {
    return at(number).piece.address.load(std::memory_order_relaxed);
  }
  Children children_of(std::uint32_t number) {
    return at(number).read_children(std::memory_order_relaxed);
  }
  /// Of two pieces, whether the first belongs above the second. No two addresses are mixed alike.
  static bool above(std::uint64_t address, std::uint64_t other) {
    return mixed(address) > mixed(other);
  }

  /// In a node that can be written, because nobody reaches it yet.
  std::uint32_t make(const MemoryRange& piece, Children children) {
    std::uint32_t number = 0;
    if (free_.empty()) {
      number = ++made_;
    } else {
      number = free_.back();
      free_.pop_back();
    }
    at(number).piece.set(piece);
    at(number).set(children);
    return number;
  }
  /// The same piece with other children.
  std::uint32_t renew(std::uint32_t number, Children children) {
    left_behind_.push_back(number);
    return make(at(number).piece.get(std::memory_order_relaxed), children);
  }

  // Each returns the top of a tree in which only new nodes have been written, children first.

  std::uint32_t insert(std::uint32_t tree, const MemoryRange& piece) {
    if (tree == 0 || above(piece.address, address_of(tree))) {
      return make(piece, split(tree, piece.address));
    }
    auto [left, right] = children_of(tree);
    std::uint32_t& side = piece.address < address_of(tree) ? left : right;
    side = insert(side, piece);
    return renew(tree, {left, right});
  }
  /// What begins before the address (left), and the others.
  Children split(std::uint32_t tree, std::uint64_t address) {
    if (tree == 0) return {};
    const auto [left, right] = children_of(tree);
    if (address_of(tree) < address) {
      const auto [before, behind] = split(right, address);
      return {renew(tree, {left, before}), behind};
    }
    const auto [before, behind] = split(left, address);
    return {before, renew(tree, {behind, right})};
  }
  std::uint32_t erase(std::uint32_t tree, std::uint64_t address) {
    auto [left, right] = children_of(tree);
    if (address_of(tree) == address) {
      left_behind_.push_back(tree);
      return join(left, right);
    }
    std::uint32_t& side = address < address_of(tree) ? left : right;
    side = erase(side, address);
    return renew(tree, {left, right});
  }
  /// All that is left begins before all that is right.
  std::uint32_t join(std::uint32_t left, std::uint32_t right) {
    if (left == 0 || right == 0) return left + right;
    if (above(address_of(left), address_of(right))) {
      const Children below = children_of(left);
      return renew(left, {below.left, join(below.right, right)});
    }
    const Children below = children_of(right);
    return renew(right, {join(left, below.left), below.right});
  }
  void publish(std::uint32_t top) {
    top_ = Root::next(top_, top);
    root_.top.store(top_, std::memory_order_release);
    free_.insert(free_.end(), left_behind_.begin(), left_behind_.end());
    left_behind_.clear();
  }

  Root& root_;
  Segments& segments_;
  std::uint64_t top_ = 0;  // as in the root
  std::array<Node*, Root::most_segments> nodes_{};
  std::size_t used_segments_ = 0;
  std::uint32_t capacity_ = 0;  // of these segments
  std::uint32_t made_ = 0;      // numbers up to this one have been used
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> left_behind_;  // by the change that is being made
};

}  // namespace oriel
