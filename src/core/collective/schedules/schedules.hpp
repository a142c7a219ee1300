// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/limits.hpp"
#include "core/collective/schedule.hpp"
#include "core/collective/schedules/node_map.hpp"
#include "core/operation/reduction.hpp"

namespace oriel {

/// Sends each rank's block to all ranks, which have a buffer for each block, by rank. Each block is
/// sent to each other node once, to one rank there, which forwards it on its node. If the blocks
/// of a node are short in total, one of its ranks sends them in one message; otherwise each rank
/// sends its own block. NodeMap::gateway() selects the ranks that send or receive for their nodes,
/// by the distance between the nodes.
///
/// `own`: without a layout, our block is already stored in `blocks`.
MadeSchedule allgatherv(const NodeMap& node_map, const Buffer& own, std::span<const Buffer> blocks,
                        const Limits& limits);

/// Sends the root's buffer to all ranks. A tree connects one rank of each node (on the root's node,
/// the root), which also sends to the other ranks of its node. A long message goes through the tree
/// in pieces, each forwarded when it has arrived.
MadeSchedule bcast(const NodeMap& node_map, int root, const Buffer& buffer, const Limits& limits);

/// The contiguous vector of each rank.
struct Vectors {
  const void* from = nullptr;
  void* into = nullptr;  // on the root; in place equal to `from`
  std::uint64_t count = 0;
  Reduction reduction;
  std::shared_ptr<OwnOp> own_op;  // instead of `reduction`, whose `element` is its elements' length
};

/// Returns whether the result may depend on the order in which values are combined.
bool order_matters(const Reduction& reduction);

/// Combines the vectors of all ranks element by element; the root gets the result. Long vectors are
/// cut into slices, which are distributed among the ranks of each node. The rank that has a slice
/// receives it from the other ranks of its node, combines them, and sends the result to the rank of
/// another node that has this slice.
///
/// If the order does not matter, the nodes form a tree. If it matters, and for every own op, rank r
/// combines its value with those of ranks r + 1, r + 2, r + 4, ..., below its own lowest bit,
/// whatever their nodes: the result has the same bits for every root, every placement and every
/// use.
MadeSchedule reduce(const NodeMap& node_map, int root, const Vectors& vectors,
                    const Limits& limits);

/// The data that an exchange in place sends: for each rank the content of its receive buffer at the
/// start, copied before any data can arrive.
struct KeptSends {
  /// Bytes of memory for the copies. Our own block is not copied.
  static std::uint64_t bytes(int rank, std::span<const Buffer> buffers);

  KeptSends(int rank, std::span<const Buffer> buffers, std::byte* memory);

  std::vector<Buffer> sends;  // by rank, in the memory
  std::vector<Schedule::Copy> copies;
};

/// Sends a buffer to each rank and receives one from each, by rank; serves alltoall and alltoallv
/// too. Each rank sends to the next rank first, so that not all send to one rank at once.
MadeSchedule alltoallw(int rank, std::span<const Buffer> sends, std::span<const Buffer> receives);

/// As alltoallw(); the data sent to a rank are those that the buffer for the data from that rank
/// has at the start. They are copied before any data arrive.
MadeSchedule alltoallw_in_place(int rank, std::span<const Buffer> buffers);

/// One edge of a virtual topology and its buffer. The edge may lead to this rank itself, and
/// several edges may lead to one rank. A negative rank is MPI_PROC_NULL.
struct Edge {
  int rank = 0;  // at its other end
  Buffer buffer;
};

/// How several edges from one rank to another are matched.
enum class EdgeMatching {
  graph,     // the k-th edge that the sender lists matches the k-th that the receiver lists
  cartesian  // data sent down in a dimension are received from above, and vice versa
};

/// Makes the schedule of edges in MPI's order.
MadeSchedule neighbor_alltoallv(int rank, std::span<const Edge> sends,
                                std::span<const Edge> receives, EdgeMatching matching);

}  // namespace oriel
