// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/limits.hpp"
#include "core/collective/schedule.hpp"
#include "core/collective/schedules/node_map.hpp"

namespace oriel {

/// The lengths of the blocks of an exchange between nodes that one rank has to know: those of the
/// blocks that it sends and receives, and those of all blocks between its node and the nodes that
/// it serves.
class BlockLengths {
 public:
  using Word = std::uint32_t;
  /// The word of a block that is too long to be gathered with others.
  static constexpr Word goes_directly = ~Word{0};

  /// All blocks have one length.
  explicit BlockLengths(Word bytes) : common_(bytes) {}
  /// `to`, `from`: by rank. `between`: by the pair numbers of gathered_alltoallw().
  BlockLengths(std::vector<Word> to, std::vector<Word> from, std::vector<Word> between)
      : to_(std::move(to)), from_(std::move(from)), between_(std::move(between)) {}

  Word to(int rank) const { return of(to_, static_cast<std::size_t>(rank)); }
  Word from(int rank) const { return of(from_, static_cast<std::size_t>(rank)); }
  Word between(std::uint64_t pair) const { return of(between_, pair); }

 private:
  Word of(const std::vector<Word>& words, std::size_t at) const {
    return words.empty() ? common_ : words[at];
  }

  Word common_ = 0;
  std::vector<Word> to_;
  std::vector<Word> from_;
  std::vector<Word> between_;
};

/// Returns whether short blocks between our node and `node` are gathered: if one of the two nodes
/// has several ranks.
bool gathers(const NodeMap& node_map, int node);
/// Returns whether blocks of any two nodes are gathered, which is the same on all ranks.
bool gathers_anywhere(const NodeMap& node_map);

/// As alltoallw(), except for short blocks between nodes. Those from one node to another are
/// gathered by one rank of the sending node, sent in one message, and distributed by one rank of
/// the receiving node. The distance of the two nodes determines which rank of each node that is, so
/// the other nodes are divided evenly among the ranks of a node.
///
/// Its scratch memory has first the blocks from our node to each node that this rank serves,
/// beginning with the next node, then the blocks from each such node, beginning with the previous
/// node. The blocks of a pair of nodes are ordered by sender, then by receiver. BlockLengths
/// numbers pairs of ranks in this order.
MadeSchedule gathered_alltoallw(const NodeMap& node_map, std::span<const Buffer> sends,
                                std::span<const Buffer> receives, const BlockLengths& lengths);

/// As gathered_alltoallw(); the data sent to rank r are those that `buffers[r]` has at the start.
MadeSchedule gathered_alltoallw_in_place(const NodeMap& node_map, std::span<const Buffer> buffers,
                                         const BlockLengths& lengths);

/// Distributes the block lengths that a gathered exchange needs. This is itself a gathered
/// exchange, of one number for each block, through the ranks that will handle the block. Its plan
/// is used once.
class LengthsExchange {
 public:
  /// `sends`: by rank.
  LengthsExchange(const NodeMap& node_map, std::span<const Buffer> sends, const Limits& limits);

  const Schedule& schedule() const { return made_.schedule; }
  /// The lengths, after the use of its plan is over.
  BlockLengths lengths() const;

 private:
  std::vector<BlockLengths::Word> to_;
  std::vector<BlockLengths::Word> from_;
  MadeSchedule made_;
};

}  // namespace oriel
