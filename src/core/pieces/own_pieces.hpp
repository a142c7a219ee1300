// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/base/error.hpp"
#include "core/pieces/shared_pieces.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The owner's side of a PieceRoot: a treap whose priorities are hashes of the addresses, so that a
/// piece is found and changed in O(log n) steps whatever the order of the calls. Each change is one
/// store of the top.
///
/// `Segments` has allocate(segment, location): the nodes of a segment, zeroed, or null.
template <typename Words, typename Segments>
class BasicPieceTree {
 public:
  using Root = BasicPieceRoot<Words>;
  using Node = BasicPieceNode<Words>;

  BasicPieceTree(Root& root, Segments& segments) : root_(root), segments_(segments) {}

  /// After reserve(), one attach(), and later one detach() and one forget() of each piece, need no
  /// memory. attach() uses at most reached() + 1 nodes and keeps one. detach() uses at most
  /// reached() nodes and keeps none. False if there is no memory.
  bool reserve() {
    if (space() > std::min(reached(), most_changed) + 1) return true;
    if (used_segments_ == Root::most_segments) return false;
    ArenaLocation location;
    Node* nodes = segments_.allocate(used_segments_, location);
    if (nodes == nullptr) return false;
    root_.segments[used_segments_].set(location);
    nodes_[used_segments_++] = nodes;
    capacity_ += static_cast<std::uint32_t>(DoublingSegments::entries(used_segments_ - 1));
    return true;
  }

  /// Attaches a piece. Only after reserve(); the piece has bytes and overlaps no attached piece. It
  /// replaces a detached piece that begins at its address.
  void attach(const MemoryRange& piece) { publish(insert(Root::number_of(top_), piece)); }

  /// Detaches the piece that begins at the address. `number`: of this detach, not 0.
  void detach(std::uint64_t address, std::uint64_t number) {
    publish(mark(Root::number_of(top_), address, number));
  }

  /// Removes the piece that begins at the address.
  void forget(std::uint64_t address) { publish(erase(Root::number_of(top_), address)); }

  /// Finds the last piece that begins at the address or before it, attached or detached. False if
  /// there is none. `detached`: the number of its detach; 0: it is attached.
  bool find(std::uint64_t address, MemoryRange& piece, std::uint64_t& detached) {
    std::uint32_t best = 0;
    for (std::uint32_t number = Root::number_of(top_); number != 0;) {
      const bool before = address_of(number) <= address;
      if (before) best = number;
      number = before ? children_of(number).right : children_of(number).left;
    }
    if (best == 0) return false;
    piece = at(best).piece.get(std::memory_order_relaxed);
    detached = at(best).detached.load(std::memory_order_relaxed);
    return true;
  }

 private:
  using Children = typename Node::Children;

  /// The maximal number of nodes that one change rebuilds: no tree with hashes as priorities is
  /// that deep.
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
  /// Returns whether the piece at `address` belongs above that at `other`. No two addresses have
  /// equal hashes.
  static bool above(std::uint64_t address, std::uint64_t other) {
    return mix_bits(address) > mix_bits(other);
  }

  /// Writes a piece and its children into a node that cannot be reached from the top.
  std::uint32_t make(const MemoryRange& piece, std::uint64_t detached, Children children) {
    std::uint32_t number = 0;
    if (free_.empty()) {
      number = ++made_;
    } else {
      number = free_.back();
      free_.pop_back();
    }
    at(number).piece.set(piece);
    at(number).detached.store(detached, std::memory_order_release);
    at(number).set(children);
    return number;
  }
  /// Replaces a node by a new one with the same piece and other children.
  std::uint32_t renew(std::uint32_t number, Children children) {
    return replace(number, at(number).detached.load(std::memory_order_relaxed), children);
  }
  std::uint32_t replace(std::uint32_t number, std::uint64_t detached, Children children) {
    replaced_.push_back(number);
    return make(at(number).piece.get(std::memory_order_relaxed), detached, children);
  }

  // Each of the following returns the top of a tree. It writes only new nodes, children first.

  std::uint32_t insert(std::uint32_t tree, const MemoryRange& piece) {
    if (tree == 0 || above(piece.address, address_of(tree))) {
      return make(piece, 0, split(tree, piece.address));
    }
    auto [left, right] = children_of(tree);
    if (address_of(tree) == piece.address) {
      replaced_.push_back(tree);
      return make(piece, 0, {left, right});
    }
    std::uint32_t& side = piece.address < address_of(tree) ? left : right;
    side = insert(side, piece);
    return renew(tree, {left, right});
  }
  /// Splits a tree into the pieces that begin before the address (left) and the others (right).
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
  std::uint32_t mark(std::uint32_t tree, std::uint64_t address, std::uint64_t detached) {
    auto [left, right] = children_of(tree);
    if (address_of(tree) == address) return replace(tree, detached, {left, right});
    std::uint32_t& side = address < address_of(tree) ? left : right;
    side = mark(side, address, detached);
    return renew(tree, {left, right});
  }
  std::uint32_t erase(std::uint32_t tree, std::uint64_t address) {
    auto [left, right] = children_of(tree);
    if (address_of(tree) == address) {
      replaced_.push_back(tree);
      return join(left, right);
    }
    std::uint32_t& side = address < address_of(tree) ? left : right;
    side = erase(side, address);
    return renew(tree, {left, right});
  }
  /// Joins two trees; all pieces of `left` begin before those of `right`.
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
    free_.insert(free_.end(), replaced_.begin(), replaced_.end());
    replaced_.clear();
  }

  Root& root_;
  Segments& segments_;
  std::uint64_t top_ = 0;  // equal to that in the root
  std::array<Node*, Root::most_segments> nodes_{};
  std::size_t used_segments_ = 0;
  std::uint32_t capacity_ = 0;  // nodes in these segments
  std::uint32_t made_ = 0;      // numbers up to this one have been used
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> replaced_;  // nodes that the present change replaces
};

/// The pieces of this rank in a dynamic window, attached or detached. Operations reach a detached
/// piece until it is forgotten: by forget_detached(), by an attach() that overlaps it, or after
/// `most_detached` later detaches.
class OwnPieces {
 public:
  static constexpr std::size_t most_detached = 1024;

  /// `root`: zeroed memory that its node peers map.
  OwnPieces(PieceRoot& root, NodeServices& services);

  /// Error::attach: it overlaps an attached piece, or there is no memory for its node.
  Error attach(const MemoryRange& piece, FailureReason& reason);
  /// Error::base: no attached piece begins there.
  Error detach(std::uint64_t address, FailureReason& reason);
  /// Forgets the detached pieces that begin in these bytes. Operations on them fail from now on.
  void forget_detached(std::uint64_t address, std::uint64_t bytes);
  /// Forgets all detached pieces.
  void forget_detached() { forget_detached(0, ~std::uint64_t{0}); }

 private:
  /// The memory of the tree's nodes.
  class Segments {
   public:
    explicit Segments(NodeServices& services) : services_(services) {}
    ~Segments();
    Segments(const Segments&) = delete;
    Segments& operator=(const Segments&) = delete;
    PieceNode* allocate(std::size_t segment, ArenaLocation& location);

   private:
    NodeServices& services_;
    std::vector<std::byte*> allocated_;
  };

  bool find_overlapped(const MemoryRange& piece, std::vector<std::uint64_t>& detaches);
  void forget(std::uint64_t detach);

  Segments segments_;
  BasicPieceTree<SharedWords, Segments> tree_;
  std::uint64_t detaches_ = 0;
  std::map<std::uint64_t, std::uint64_t> detached_;  // addresses of the pieces, by their detaches
  std::multiset<std::uint64_t> empty_;  // pieces without bytes, which no operation can access
};

}  // namespace oriel
