// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/collective/schedule.hpp"
#include "core/collective/schedules/made_schedule.hpp"

namespace oriel {

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
