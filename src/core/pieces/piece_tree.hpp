// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/pieces/piece_words.hpp"

namespace oriel {

/// The owner's side of a PieceRoot: a treap whose priorities are hashes of the addresses, so that a
/// piece is found, attached and detached in O(log n) steps whatever the order of the calls.
///
/// `Segments` has take(segment, place): the nodes of a segment, zeroed, or null; place is where.
template <typename Words, typename Segments>
class BasicPieceTree {
 public:
  using Root = BasicPieceRoot<Words>;
  using Node = BasicPieceNode<Words>;

  BasicPieceTree(Root& root, Segments& segments) : root_(root), segments_(segments) {}

  /// Room for an attach(), which leaves some for a detach(). False: there is no memory left.
  bool reserve() {
    if (room() >= 2 * most_changed) return true;
    if (used_segments_ == Root::most_segments) return false;
    Place place;
    Node* nodes = segments_.take(used_segments_, place);
    if (nodes == nullptr) return false;
    typename Root::Segment& segment = root_.segments[used_segments_];
    segment.offset.store(place.offset, std::memory_order_release);
    segment.extent_bytes.store(place.extent_bytes, std::memory_order_release);
    nodes_[used_segments_++] = nodes;
    capacity_ += static_cast<std::uint32_t>(Root::nodes_of(used_segments_ - 1));
    return true;
  }

  /// After reserve(), of a piece of some bytes that overlaps none.
  void attach(const Piece& piece) {
    const std::uint32_t made = take();
    Node& node = at(made);
    node.address.store(piece.address, std::memory_order_release);
    node.bytes.store(piece.bytes, std::memory_order_release);
    node.offset.store(piece.place.offset, std::memory_order_release);
    node.extent_bytes.store(piece.place.extent_bytes, std::memory_order_release);
    publish(insert(Root::number_of(top_), made));
  }

  /// Of the piece that begins at the address. It has always room: in the end it takes no nodes, but
  /// gives one back.
  void detach(std::uint64_t address) { publish(erase(Root::number_of(top_), address)); }

  /// The last piece that begins at the address or before it. False: there is none.
  bool find(std::uint64_t address, Piece& piece) {
    std::uint32_t best = 0;
    for (std::uint32_t number = Root::number_of(top_); number != 0;) {
      const bool before = address_of(number) <= address;
      if (before) best = number;
      number = before ? right(number) : left(number);
    }
    if (best == 0) return false;
    const Node& node = at(best);
    piece = {own(node.address), own(node.bytes), {own(node.offset), own(node.extent_bytes)}};
    return true;
  }

 private:
  /// Nodes that one change may build, and more: as deep as no tree is whose priorities are hashes.
  static constexpr std::size_t most_changed = 96;

  template <typename Word>
  static auto own(const Word& word) {
    return word.load(std::memory_order_relaxed);  // nobody else writes it
  }
  std::size_t room() const { return free_.size() + (capacity_ - made_); }
  Node& at(std::uint32_t number) {
    const auto [segment, index] = Root::spot(number);
    return nodes_[segment][index];
  }
  std::uint64_t address_of(std::uint32_t number) { return own(at(number).address); }
  std::uint32_t left(std::uint32_t number) { return own(at(number).left); }
  std::uint32_t right(std::uint32_t number) { return own(at(number).right); }
  void set_left(std::uint32_t number, std::uint32_t child) {
    at(number).left.store(child, std::memory_order_release);
  }
  void set_right(std::uint32_t number, std::uint32_t child) {
    at(number).right.store(child, std::memory_order_release);
  }
  /// Of two nodes, whether the first belongs above the second.
  bool above(std::uint32_t one, std::uint32_t other) {
    return mixed(address_of(one)) > mixed(address_of(other));
  }
  /// A bijection, so that no two pieces have the same: the finalizer of SplitMix64.
  static std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }

  std::uint32_t take() {
    if (free_.empty()) return ++made_;
    const std::uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  /// The same piece and children in a node that can be changed, because nobody reaches it yet.
  std::uint32_t renew(std::uint32_t number) {
    const std::uint32_t made = take();
    const Node& from = at(number);
    Node& to = at(made);
    to.address.store(own(from.address), std::memory_order_release);
    to.bytes.store(own(from.bytes), std::memory_order_release);
    to.offset.store(own(from.offset), std::memory_order_release);
    to.extent_bytes.store(own(from.extent_bytes), std::memory_order_release);
    set_left(made, own(from.left));
    set_right(made, own(from.right));
    left_behind_.push_back(number);
    return made;
  }

  // Each returns the top of a tree in which only new nodes have been written.

  std::uint32_t insert(std::uint32_t tree, std::uint32_t made) {
    if (tree == 0 || above(made, tree)) {
      const auto [before, behind] = split(tree, address_of(made));
      set_left(made, before);
      set_right(made, behind);
      return made;
    }
    const std::uint32_t top = renew(tree);
    if (address_of(made) < address_of(top)) {
      set_left(top, insert(left(top), made));
    } else {
      set_right(top, insert(right(top), made));
    }
    return top;
  }
  /// What begins before the address, and the others.
  std::pair<std::uint32_t, std::uint32_t> split(std::uint32_t tree, std::uint64_t address) {
    if (tree == 0) return {0, 0};
    const std::uint32_t top = renew(tree);
    if (address_of(top) < address) {
      const auto [before, behind] = split(right(top), address);
      set_right(top, before);
      return {top, behind};
    }
    const auto [before, behind] = split(left(top), address);
    set_left(top, behind);
    return {before, top};
  }
  std::uint32_t erase(std::uint32_t tree, std::uint64_t address) {
    if (address_of(tree) == address) {
      left_behind_.push_back(tree);
      return join(left(tree), right(tree));
    }
    const std::uint32_t top = renew(tree);
    if (address < address_of(top)) {
      set_left(top, erase(left(top), address));
    } else {
      set_right(top, erase(right(top), address));
    }
    return top;
  }
  std::uint32_t join(std::uint32_t before, std::uint32_t behind) {
    if (before == 0 || behind == 0) return before + behind;
    if (above(before, behind)) {
      const std::uint32_t top = renew(before);
      set_right(top, join(right(top), behind));
      return top;
    }
    const std::uint32_t top = renew(behind);
    set_left(top, join(before, left(top)));
    return top;
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
