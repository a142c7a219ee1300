// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "boundary/collectives/alltoallv_arguments.hpp"
#include "boundary/collectives/planned.hpp"
#include "core/collective/schedules/neighbor_alltoallv.hpp"

namespace oriel::boundary {

/// Alltoall and alltoallw.
class PlannedAlltoall final : public Planned {
 public:
  PlannedAlltoall(CollectiveKind kind, AlltoallvArguments arguments)
      : kind_(kind), arguments_(std::move(arguments)) {}

  CollectiveKind kind() const override { return kind_; }
  Failure take() override;
  MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) override;

 private:
  CollectiveKind kind_;
  AlltoallvArguments arguments_;
  AlltoallvBuffers buffers_;
};

/// Allgatherv. `arguments`: one block to send.
class PlannedAllgatherv final : public Planned {
 public:
  PlannedAllgatherv(AlltoallvArguments arguments, int rank)
      : arguments_(std::move(arguments)), rank_(rank) {}

  CollectiveKind kind() const override { return CollectiveKind::allgatherv; }
  Failure take() override;
  void add_to(Signature& signature) const override;
  MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) override;

 private:
  AlltoallvArguments arguments_;
  int rank_;
  AlltoallvBuffers buffers_;
};

/// The ranks at the other ends of a rank's edges.
struct Neighbors {
  std::vector<int> to;
  std::vector<int> from;
  EdgeMatching matching = EdgeMatching::graph;
};

/// Finds the neighbors in the topology of a communicator. Fails if it has no topology.
Failure find_neighbors(MPI_Comm communicator, int rank, Neighbors& neighbors);

/// Neighbor_alltoallv. `arguments`: a block for each edge. `fault`: that of find_neighbors().
class PlannedNeighbors final : public Planned {
 public:
  PlannedNeighbors(AlltoallvArguments arguments, Neighbors neighbors, Failure fault)
      : arguments_(std::move(arguments)), neighbors_(std::move(neighbors)), fault_(fault) {}

  CollectiveKind kind() const override { return CollectiveKind::neighbor_alltoallv; }
  Failure take() override;
  MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) override;

 private:
  AlltoallvArguments arguments_;
  Neighbors neighbors_;
  Failure fault_;
  AlltoallvBuffers buffers_;
};

}  // namespace oriel::boundary
