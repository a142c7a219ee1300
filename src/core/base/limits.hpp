// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// Sizes from which on the protocol goes another way, and how much may be under way. Tests make
/// them small.
struct Limits {
  /// Longer operations are cut into pieces of this size, which are sent, carried out and replied
  /// one after the other: a pipeline, and no queue needs room for more.
  std::uint64_t piece = std::uint64_t{256} * 1024;
  /// So many bytes are sent to a target that may have to hold them back: short operations do not
  /// wait for grants, and no target has to keep more than this for each origin and window. 64 KB
  /// and what the messages themselves take.
  std::uint64_t ahead = std::uint64_t{68} * 1024;
  /// Longer puts and gets are direct transfers where the target's memory is exposed to them and
  /// both sides consist of runs of `direct_run` on average; in pieces of `direct_piece` once their
  /// epoch is being closed.
  std::uint64_t direct = std::uint64_t{128} * 1024;
  std::uint64_t direct_run = std::uint64_t{16} * 1024;
  std::uint64_t direct_piece = std::uint64_t{1024} * 1024;
  /// So many ranks of a node tell one another of a fence each by itself: the fewest steps. More
  /// are counted by a FenceTree, so that what a rank stores grows with their logarithm.
  int told_each = 16;
  /// So many bytes of a fetching operation are asked for before the first are here.
  std::uint64_t under_way = 4 * piece;
};

}  // namespace oriel
