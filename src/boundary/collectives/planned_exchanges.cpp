// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/planned_exchanges.hpp"

#include "boundary/host/host_list.hpp"
#include "core/collective/schedules/allgatherv.hpp"
#include "core/collective/schedules/buffers_together.hpp"

namespace oriel::boundary {
namespace {

Failure take_both(const AlltoallvArguments& arguments, AlltoallvBuffers& buffers) {
  if (arguments.receive.buffer == MPI_IN_PLACE) {
    return {MPI_ERR_BUFFER, "MPI_IN_PLACE is not for the receive buffer"};
  }
  if (const Failure bad = take_side(arguments.receive, buffers.receives, buffers.receive_kind)) {
    return bad;
  }
  if (arguments.in_place) return {};
  return take_side(arguments.send, buffers.sends, buffers.send_kind);
}

std::vector<Edge> edges_of(const std::vector<int>& ranks, const std::vector<Buffer>& buffers) {
  std::vector<Edge> edges;
  edges.reserve(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) edges.push_back({ranks[i], buffers[i]});
  return edges;
}

int find_grid(MPI_Comm communicator, Neighbors& neighbors) {
  int dimensions = 0;
  if (const int code = PMPI_Cartdim_get(communicator, &dimensions); code != MPI_SUCCESS) {
    return code;
  }
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int down = MPI_PROC_NULL;
    int up = MPI_PROC_NULL;
    const int code = PMPI_Cart_shift(communicator, dimension, 1, &down, &up);
    if (code != MPI_SUCCESS) return code;
    neighbors.to.insert(neighbors.to.end(), {down, up});
  }
  neighbors.from = neighbors.to;
  neighbors.matching = EdgeMatching::cartesian;
  return MPI_SUCCESS;
}

int find_graph(MPI_Comm communicator, int rank, Neighbors& neighbors) {
  int count = 0;
  if (const int code = PMPI_Graph_neighbors_count(communicator, rank, &count);
      code != MPI_SUCCESS) {
    return code;
  }
  neighbors.to.resize(static_cast<std::size_t>(count));
  const int code = PMPI_Graph_neighbors(communicator, rank, count, host_list(neighbors.to));
  neighbors.from = neighbors.to;
  return code;
}

int find_distributed_graph(MPI_Comm communicator, Neighbors& neighbors) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  if (const int code = PMPI_Dist_graph_neighbors_count(communicator, &in, &out, &weighted);
      code != MPI_SUCCESS) {
    return code;
  }
  neighbors.from.resize(static_cast<std::size_t>(in));
  neighbors.to.resize(static_cast<std::size_t>(out));
  // Not MPI_UNWEIGHTED: if there are weights, some hosts write to that address.
  std::vector<int> in_weights(neighbors.from.size());
  std::vector<int> out_weights(neighbors.to.size());
  return PMPI_Dist_graph_neighbors(communicator, in, host_list(neighbors.from),
                                   host_list(in_weights), out, host_list(neighbors.to),
                                   host_list(out_weights));
}

}  // namespace

Failure PlannedAlltoall::take() {
  if (const Failure bad = take_both(arguments_, buffers_)) return bad;
  return check_overlap(arguments_.receive, buffers_.receives);
}

MadeSchedule PlannedAlltoall::schedule(const NodeMap& node_map, const Limits&) {
  return buffers_.schedule(node_map.rank(), arguments_.in_place);
}

Failure PlannedAllgatherv::take() {
  if (const Failure bad = take_both(arguments_, buffers_)) return bad;
  if (!arguments_.in_place) {
    const std::uint64_t own = bytes_in(buffers_.sends.front());
    const std::uint64_t expected = bytes_in(buffers_.receives[static_cast<std::size_t>(rank_)]);
    if (own != expected) {
      return said(MPI_ERR_TRUNCATE, "its block is " + std::to_string(own) + " bytes, where " +
                                        std::to_string(expected) + " are expected from it");
    }
  }
  return check_overlap(arguments_.receive, buffers_.receives);
}

void PlannedAllgatherv::add_to(Signature& signature) const {
  for (const Buffer& block : buffers_.receives) signature.with(bytes_in(block));
}

MadeSchedule PlannedAllgatherv::schedule(const NodeMap& node_map, const Limits& limits) {
  const Buffer own = arguments_.in_place ? Buffer() : buffers_.sends.front();
  return allgatherv(node_map, own, buffers_.receives, limits);
}

Failure find_neighbors(MPI_Comm communicator, int rank, Neighbors& neighbors) {
  int topology = MPI_UNDEFINED;
  int code = PMPI_Topo_test(communicator, &topology);
  if (code == MPI_SUCCESS) {
    if (topology == MPI_CART) {
      code = find_grid(communicator, neighbors);
    } else if (topology == MPI_GRAPH) {
      code = find_graph(communicator, rank, neighbors);
    } else if (topology == MPI_DIST_GRAPH) {
      code = find_distributed_graph(communicator, neighbors);
    } else {
      return {MPI_ERR_TOPOLOGY, "the communicator has no virtual topology"};
    }
  }
  if (code == MPI_SUCCESS) return {};
  return {MPI_ERR_TOPOLOGY, "the host MPI does not tell this rank's neighbours"};
}

Failure PlannedNeighbors::take() {
  if (fault_) return fault_;
  if (arguments_.in_place) return {MPI_ERR_BUFFER, "MPI_IN_PLACE is not for this call"};
  if (const Failure bad = take_both(arguments_, buffers_)) return bad;
  for (std::size_t i = 0; i < neighbors_.from.size(); ++i) {
    if (neighbors_.from[i] < 0) buffers_.receives[i].count = 0;
  }
  return check_overlap(arguments_.receive, buffers_.receives);
}

MadeSchedule PlannedNeighbors::schedule(const NodeMap& node_map, const Limits&) {
  return neighbor_alltoallv(node_map.rank(), edges_of(neighbors_.to, buffers_.sends),
                            edges_of(neighbors_.from, buffers_.receives), neighbors_.matching);
}

}  // namespace oriel::boundary
