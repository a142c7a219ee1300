// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedules/schedules.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/shared_words.hpp"
#include "core/collective/schedule.hpp"
#include "core/operation/address.hpp"

namespace oriel {
namespace {

/// Bytes cut into pieces of equal length; the last one may be shorter.
class Pieces {
 public:
  /// Makes at most `most` pieces of whole units. Zero bytes make one empty piece.
  Pieces(std::uint64_t bytes, std::uint64_t most, std::uint64_t unit = 1) : total_(bytes) {
    const std::uint64_t units = (bytes / unit + most - 1) / most;
    each_ = std::max<std::uint64_t>(units, 1) * unit;
    number_ = std::max<std::uint64_t>((bytes + each_ - 1) / each_, 1);
  }

  std::uint64_t number() const { return number_; }
  std::uint64_t first(std::uint64_t piece) const { return piece * each_; }
  std::uint64_t bytes(std::uint64_t piece) const { return std::min(each_, total_ - first(piece)); }

 private:
  std::uint64_t total_;
  std::uint64_t each_;
  std::uint64_t number_;
};

/// A tree of the numbers from 0, its root, to nodes - 1, where number i is the i-th node behind the
/// root's. A message of one piece uses a binomial tree, which has the fewest steps. With several
/// pieces, a node forwards one piece while the next one arrives: then the number of children
/// matters most, and after it the depth.
class NodeTree {
 public:
  NodeTree(int nodes, std::uint64_t pieces) : nodes_(nodes), shape_(choose(nodes, pieces)) {}

  /// The parent; -1 for the root.
  int parent(int node) const {
    if (node == 0) return -1;
    switch (shape_) {
      case Shape::binomial:
        return node & (node - 1);
      case Shape::binary:
        return (node - 1) / 2;
      default:
        return node - 1;
    }
  }
  /// The children in ascending order of the sizes of their subtrees.
  std::vector<int> children(int node) const {
    std::vector<int> found;
    const auto add = [&](int child) {
      if (child < nodes_) found.push_back(child);
    };
    switch (shape_) {
      case Shape::binomial:
        for (int bit = 1; bit < nodes_ && (node & bit) == 0; bit *= 2) add(node + bit);
        break;
      case Shape::binary:
        add(2 * node + 2);
        add(2 * node + 1);
        break;
      default:
        add(node + 1);
    }
    return found;
  }

 private:
  enum class Shape : std::uint8_t { binomial, binary, chain };

  // In a chain the last piece arrives after nodes + pieces - 2 times of one piece; in a binary tree
  // after 2 * (depth + pieces).
  static Shape choose(int nodes, std::uint64_t pieces) {
    if (pieces <= 1) return Shape::binomial;
    return static_cast<std::uint64_t>(nodes) <= pieces ? Shape::chain : Shape::binary;
  }

  int nodes_;
  Shape shape_;
};

/// Each piece has words of its own at its receiver, and each further piece saves less time.
constexpr std::uint64_t most_pieces = 64;

/// The maximal number of slices of a vector, unless a node has more ranks.
constexpr std::uint64_t most_slices = 64;

/// One rank's values: the children's values are combined into them, and the result goes to the
/// parent.
struct Value {
  int rank = 0;
  std::vector<int> children;  // ranks, in order
  int parent = -1;            // -1: the values are the final result
};

/// The position of a message among those from one rank to another, the same at both ends.
using Order = std::tuple<int, std::uint64_t, int>;

class Reducing {
 public:
  Reducing(const NodeMap& node_map, int root, const Vectors& vectors, const Limits& limits)
      : node_map_(node_map),
        root_(root),
        home_(node_map.node(root)),
        vectors_(vectors),
        ordered_(vectors.own_op != nullptr || order_matters(vectors.reduction)),
        into_higher_(vectors.own_op != nullptr && !vectors.own_op->commutes()),
        most_members_(most_members(node_map)),
        slices_(cut(limits)),
        tree_(node_map.nodes(), (slices_.number() + most_members_ - 1) / most_members_),
        element_(new Layout({{0, vectors.reduction.element}}, vectors.reduction.element,
                            vectors.reduction.basic)) {}

  MadeSchedule make() {
    values_ = values();
    allocate_scratch();
    for (std::uint64_t slice = 0; slice < slices_.number(); ++slice) {
      const int at = executor(node_map_.node(), slice);
      if (at == node_map_.rank()) continue;
      schedule_.sends.push_back({at, buffer(own() + slices_.first(slice), slice), 0});
    }
    for (std::uint64_t slice = 0; slice < slices_.number(); ++slice) {
      if (executor(node_map_.node(), slice) == node_map_.rank()) combine(slice);
    }
    receive_result();
    std::ranges::stable_sort(receives_, {}, &Receive::order);
    for (Receive& one : receives_) schedule_.receives.push_back(std::move(one.receive));
    schedule_.own_op = vectors_.own_op;
    made_.schedule = std::move(schedule_);
    return std::move(made_);
  }

 private:
  struct Receive {
    Order order;
    Schedule::Receive receive;
  };

  static std::uint64_t most_members(const NodeMap& node_map) {
    std::size_t most = 1;
    for (int node = 0; node < node_map.nodes(); ++node) {
      most = std::max(most, node_map.members(node).size());
    }
    return most;
  }
  /// Slices are long enough that a slice costs less than it moves, and short enough that a rank
  /// combines one while the next one arrives.
  Pieces cut(const Limits& limits) const {
    const std::uint64_t bytes = vectors_.count * vectors_.reduction.element;
    const std::uint64_t fewest = (bytes + limits.fragment - 1) / limits.fragment;
    const std::uint64_t most = std::max<std::uint64_t>(bytes / (limits.slice + 1), 1);
    const std::uint64_t number =
        std::min(std::max(fewest, most_members_), std::max(most_members_, most_slices));
    return {bytes, std::min(number, most), vectors_.reduction.element};
  }

  int leader(int node) const { return node == home_ ? root_ : node_map_.members(node).front(); }
  int executor(int node, std::uint64_t slice) const {
    const std::span<const int> members = node_map_.members(node);
    const auto first = static_cast<std::uint64_t>(node_map_.position(leader(node)));
    return members[(first + slice) % members.size()];
  }
  /// The rank whose values become the final result.
  int top() const { return ordered_ ? 0 : root_; }

  /// The values of our node, each after its children of this node. The values of all ranks have an
  /// order in which no value waits for a later one.
  std::vector<Value> values() const {
    std::vector<Value> found;
    const std::span<const int> members = node_map_.members(node_map_.node());
    if (ordered_) {
      for (std::size_t i = members.size(); i-- > 0;) {
        Value& value = found.emplace_back();
        value.rank = members[i];
        for (int bit = 1; (value.rank & bit) == 0 && value.rank + bit < node_map_.ranks();
             bit *= 2) {
          value.children.push_back(value.rank + bit);
        }
        if (value.rank != 0) value.parent = value.rank & (value.rank - 1);
      }
      return found;
    }
    const int nodes = node_map_.nodes();
    const int position = (node_map_.node() - home_ + nodes) % nodes;
    const auto leader_at = [&](int other) { return leader((home_ + other) % nodes); };
    Value own;
    own.rank = leader(node_map_.node());
    for (const int member : members) {
      if (member == own.rank) continue;
      found.push_back({member, {}, own.rank});
      own.children.push_back(member);
    }
    for (const int child : tree_.children(position)) own.children.push_back(leader_at(child));
    if (position != 0) own.parent = leader_at(tree_.parent(position));
    found.push_back(std::move(own));
    return found;
  }

  bool here(int rank) const { return node_map_.node(rank) == node_map_.node(); }
  /// Returns whether other values are combined into this value, which must then be a copy of the
  /// program's.
  bool changes(const Value& value) const {
    if (!into_higher_) return !value.children.empty();
    return value.children.empty() && value.parent >= 0 && here(value.parent);
  }

  /// Allocates scratch memory. Each slice of this rank has one slot for each value of the node (for
  /// this rank's own value only if it changes) and one for each value that arrives from another
  /// node.
  void allocate_scratch() {
    std::uint64_t slots = 0;
    for (const Value& value : values_) {
      if (value.rank != node_map_.rank() || changes(value)) ++slots;
      for (const int child : value.children) slots += here(child) ? 0U : 1U;
    }
    std::uint64_t slices = 0;
    for (std::uint64_t i = 0; i < slices_.number(); ++i) {
      slices += executor(node_map_.node(), i) == node_map_.rank() ? 1U : 0U;
    }
    next_slot_ = made_.allocate_scratch(slot_bytes(), slots * slices);
  }
  std::uint64_t slot_bytes() const { return round_up(slices_.bytes(0), cache_line); }
  std::byte* allocate_slot() { return std::exchange(next_slot_, next_slot_ + slot_bytes()); }

  std::byte* own() const { return static_cast<std::byte*>(const_cast<void*>(vectors_.from)); }
  Buffer buffer(std::byte* address, std::uint64_t slice) const {
    return {address, slices_.bytes(slice) / vectors_.reduction.element, element_};
  }
  void receive(int from, std::byte* into, std::uint64_t slice, int step, Order order) {
    receives_.push_back({order, {from, buffer(into, slice), step}});
  }
  Order order_of(std::uint64_t slice, int value) const {
    return {1, slice, node_map_.ranks() - value};
  }

  void combine(std::uint64_t slice) {
    const std::uint64_t count = slices_.bytes(slice) / vectors_.reduction.element;
    std::unordered_map<int, std::byte*> memory_of;  // by rank
    for (const Value& value : values_) {
      std::byte*& memory = memory_of[value.rank];
      if (value.rank != node_map_.rank()) {
        memory = allocate_slot();
        receive(value.rank, memory, slice, step_, {0, slice, 0});
        continue;
      }
      memory = own() + slices_.first(slice);
      if (!changes(value)) continue;
      std::byte* const copied = allocate_slot();
      schedule_.copies.push_back({buffer(memory, slice), buffer(copied, slice), step_ + 1});
      memory = copied;
    }
    if (values_.size() > 1 || changes(values_.front())) ++step_;
    for (const Value& value : values_) {
      std::byte*& memory = memory_of[value.rank];
      for (const int child : value.children) {
        std::byte* from = nullptr;
        if (here(child)) {
          from = memory_of[child];
        } else {
          from = allocate_slot();
          const int node = node_map_.node(child);
          receive(executor(node, slice), from, slice, step_, order_of(slice, child));
          ++step_;
        }
        // An own op stores its result in the memory of the higher ranks' values.
        if (into_higher_) std::swap(from, memory);
        schedule_.combinations.push_back({from, memory, count, vectors_.reduction, step_});
      }
      if (value.parent < 0) {
        deliver_result(memory, slice);
      } else if (!here(value.parent)) {
        schedule_.sends.push_back(
            {executor(node_map_.node(value.parent), slice), buffer(memory, slice), step_});
      }
    }
  }

  void deliver_result(std::byte* memory, std::uint64_t slice) {
    if (node_map_.rank() != root_) {
      schedule_.sends.push_back({root_, buffer(memory, slice), step_});
      return;
    }
    std::byte* const into = static_cast<std::byte*>(vectors_.into) + slices_.first(slice);
    if (into == memory) return;
    // A step's copies are made before its combinations, so this copy needs a further step.
    ++step_;
    schedule_.copies.push_back({buffer(memory, slice), buffer(into, slice), step_});
  }

  /// Receives the slices of the result that other ranks have.
  void receive_result() {
    if (node_map_.rank() != root_) return;
    auto* const into = static_cast<std::byte*>(vectors_.into);
    for (std::uint64_t slice = 0; slice < slices_.number(); ++slice) {
      const int from = executor(node_map_.node(top()), slice);
      if (from == root_) continue;
      receive(from, into + slices_.first(slice), slice, step_, order_of(slice, top()));
    }
  }

  const NodeMap& node_map_;
  int root_;
  int home_;
  Vectors vectors_;
  bool ordered_;
  bool into_higher_;  // a combination changes the higher ranks' values, not the lower ranks'
  std::uint64_t most_members_;
  Pieces slices_;
  NodeTree tree_;
  LayoutRef element_;
  std::vector<Value> values_;
  std::byte* next_slot_ = nullptr;
  int step_ = 0;
  std::vector<Receive> receives_;
  Schedule schedule_;
  MadeSchedule made_;
};

}  // namespace

MadeSchedule bcast(const NodeMap& node_map, int root, const Buffer& buffer, const Limits& limits) {
  MadeSchedule made;
  Schedule& schedule = made.schedule;
  schedule.needs_all = node_map.nodes() > 1;
  schedule.one_way = true;
  const int home = node_map.node(root);
  const int nodes = node_map.nodes();
  const int node = node_map.node();
  const auto leader = [&](int of) { return of == home ? root : node_map.members(of).front(); };
  const std::uint64_t bytes = bytes_in(buffer);
  const Pieces pieces(bytes, std::clamp<std::uint64_t>(
                                 (bytes + limits.fragment - 1) / limits.fragment, 1, most_pieces));
  if (node_map.rank() != leader(node)) {
    // On the root's node all data are available at once, so they are one message.
    const Pieces here(bytes, node == home ? 1 : pieces.number());
    for (std::uint64_t i = 0; i < here.number(); ++i) {
      schedule.receives.push_back({leader(node), Stretch(buffer, here.first(i), here.bytes(i)), 0});
    }
    return made;
  }
  const NodeTree tree(nodes, pieces.number());
  const int position = (node - home + nodes) % nodes;
  const auto node_at = [&](int other) { return (home + other) % nodes; };
  const std::vector<int> children = tree.children(position);
  for (std::uint64_t i = 0; i < pieces.number(); ++i) {
    const Stretch piece(buffer, pieces.first(i), pieces.bytes(i));
    int step = 0;
    if (position != 0) {
      step = static_cast<int>(i);
      schedule.receives.push_back({leader(node_at(tree.parent(position))), piece, step});
      ++step;
    }
    // The child with the largest subtree first, because its data have the longest way.
    for (const int child : children | std::views::reverse) {
      schedule.sends.push_back({leader(node_at(child)), piece, step});
    }
    if (position == 0) continue;
    for (const int other : node_map.members(node)) {
      if (other != node_map.rank()) schedule.sends.push_back({other, piece, step});
    }
  }
  if (position != 0) return made;
  for (const int other : node_map.members(node)) {
    if (other != node_map.rank()) schedule.sends.push_back({other, buffer, 0});
  }
  return made;
}

bool order_matters(const Reduction& reduction) {
  switch (reduction.basic) {
    case Basic::i8:
    case Basic::u8:
    case Basic::i16:
    case Basic::u16:
    case Basic::i32:
    case Basic::u32:
    case Basic::i64:
    case Basic::u64:
    case Basic::i128:
    case Basic::short_int:
    case Basic::int_int:
    case Basic::long_int:
      return false;
    default:
      return true;
  }
}

MadeSchedule reduce(const NodeMap& node_map, int root, const Vectors& vectors,
                    const Limits& limits) {
  MadeSchedule made = Reducing(node_map, root, vectors, limits).make();
  made.schedule.needs_all = true;
  made.schedule.one_way = true;
  return made;
}

}  // namespace oriel
