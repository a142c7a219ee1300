// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// Sizes from which on the protocol goes another way, and how much may be under way. Tests make
/// them small.
struct Limits {
  /// Longer operations are cut into pieces of this size, which are sent, carried out and replied
  /// one after the other: a pipeline, and no queue needs space for more.
  std::uint64_t fragment = std::uint64_t{256} * 1024;
  /// So many bytes are sent to a target that may have to hold them back: short operations do not
  /// wait for grants, and no target has to keep more than this for each origin and window. 64 KB
  /// and what the messages themselves take.
  std::uint64_t ahead = std::uint64_t{68} * 1024;
  /// Longer puts and gets are direct transfers where the target's memory is exposed to them and
  /// both sides consist of runs of `direct_run` on average; in pieces of `direct_fragment` once
  /// their epoch is being closed.
  std::uint64_t direct = std::uint64_t{128} * 1024;
  std::uint64_t direct_run = std::uint64_t{16} * 1024;
  std::uint64_t direct_fragment = std::uint64_t{1024} * 1024;
  /// So many ranks of a node tell one another of a fence each by itself: the fewest steps. More
  /// are counted by a FenceTree, so that what a rank stores grows with their logarithm.
  int announced_each = 16;
  /// So many bytes of a fetching operation are asked for before the first are here.
  std::uint64_t under_way = 4 * fragment;
  /// In a plan (core/collective): what is not longer is copied twice between mapped ranks, instead
  /// of once into a buffer that is mapped, where a page is copied while two cache lines travel; or
  /// of once by a system call. That is tried in a transfer's first uses (CopyTrial) where it is
  /// longer than `staged_surely`, a page: the system copies whole ones. What is longer than
  /// `staged` is known to be faster by one call (see PlanRegistry::set_copies).
  ///
  /// In pieces. Where both sides are at hand (`staged_pipelines`) there are up to `staged_cells` of
  /// them at once, and a longer message goes through these. Else there are as many as a whole
  /// message has, up to `staged_whole`, and what is longer is copied once. The cells of one rank's
  /// plan take no more than `staged_bytes`; where whole messages have to fit, the larger of that
  /// and its part of `staged_node_bytes`, which the ranks of a node share.
  std::uint64_t staged = std::uint64_t{64} * 1024;
  std::uint64_t staged_surely = std::uint64_t{4} * 1024;
  std::uint64_t staged_mapped = std::uint64_t{4} * 1024;
  std::uint64_t staged_fragment = std::uint64_t{32} * 1024;
  std::uint64_t staged_cells = 8;
  std::uint64_t staged_whole = 128;
  std::uint64_t staged_bytes = std::uint64_t{4} * 1024 * 1024;
  std::uint64_t staged_node_bytes = std::uint64_t{64} * 1024 * 1024;
  bool staged_pipelines = true;
  /// Where nothing comes back to who sends (Schedule::one_way), a sender may be so many uses ahead
  /// with messages up to `staged_surely`, whose cells take no more than so many bytes for one
  /// rank's plan, but for two each: ranks that share a processor change places that much less
  /// often. With the shortest messages that is a page.
  std::uint64_t ahead_uses = 64;
  std::uint64_t ahead_bytes = std::uint64_t{64} * 1024;
  /// What one side of a long transfer moves before it looks whether the other side helps: longer
  /// where a system call takes as long as much of it.
  std::uint64_t shared_fragment = std::uint64_t{64} * 1024;
  /// A reduction is not shared out among the ranks of a node in smaller parts. The same on all
  /// ranks.
  std::uint64_t slice = std::uint64_t{8} * 1024;
  /// What is not longer is sent to another node before its receiver is known to be ready.
  std::uint64_t eager = std::uint64_t{64} * 1024;
  /// Blocks of an exchange that are not longer are gathered by their node with others for the same
  /// node, where that is asked for. It saves each of them a message, which takes its two ranks some
  /// 0.5 us, and copies it four times more on the nodes, at some 8 GB/s.
  std::uint64_t gathered = std::uint64_t{1024};
};

}  // namespace oriel
