// SPDX-License-Identifier: BSD-3-Clause
// The calls of oriel/collectives.h, except those of alltoallv.
#include <oriel/profiling.h>

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/collective/schedules/schedules.hpp"
#include "mpi/calls/parameters.hpp"
#include "mpi/collectives/alltoallv_arguments.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/plan_collective.hpp"
#include "mpi/collectives/planned_reduce.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host_library.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

/// Calls the host's function of the same name, for a disabled Oriel. The function is looked up,
/// because an older mpi.h does not declare it. The arguments end with communicator, info and
/// request.
template <typename... Arguments>
int call_host(const char* call, MPI_Comm communicator, Arguments... arguments) {
  const std::string name = std::string(call).replace(0, std::string("ORIEL_").size(), "MPI_");
  // Open MPI 4.1 has some of these functions as extensions.
  for (const std::string& full : {"P" + name, "PMPIX" + name.substr(std::string("MPI").size())}) {
    if (void* found = find_host_symbol(full.c_str())) {
      return reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
    }
  }
  return raise(communicator, call, MPI_ERR_OTHER,
               "Oriel is disabled, and the MPI library has no " + name);
}

/// `ranks` adjacent blocks of `count` elements each.
AlltoallvSide blocks_of(const char* name, const void* buffer, MPI_Count count, MPI_Datatype type,
                        int ranks) {
  AlltoallvSide side;
  side.name = name;
  side.alike = true;
  side.buffer = const_cast<void*>(buffer);
  side.type = type;
  for (int rank = 0; rank < ranks; ++rank) {
    MPI_Aint first = 0;
    if (__builtin_mul_overflow(count, rank, &first)) first = std::numeric_limits<MPI_Aint>::max();
    side.counts.push_back(count);
    side.displacements.push_back(first);
  }
  return side;
}

template <typename Count, typename Displacement>
AlltoallvSide typed_blocks(const char* name, const void* buffer, const Count* counts,
                           const Displacement* displacements, const MPI_Datatype* types,
                           int ranks) {
  AlltoallvSide side(name, buffer, counts, displacements, MPI_DATATYPE_NULL,
                     static_cast<std::size_t>(ranks));
  if (types == nullptr) {
    side.missing = true;
  } else {
    side.types.assign(types, types + ranks);
  }
  return side;
}

/// The ranks at the other ends of a rank's edges.
struct Neighbors {
  std::vector<int> to;
  std::vector<int> from;
  EdgeMatching matching = EdgeMatching::graph;
};

int find_grid(MPI_Comm communicator, Neighbors& neighbors) {
  int dimensions = 0;
  if (const int code = host_mpi().Cartdim_get(communicator, &dimensions); code != MPI_SUCCESS) {
    return code;
  }
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int down = MPI_PROC_NULL;
    int up = MPI_PROC_NULL;
    const int code = host_mpi().Cart_shift(communicator, dimension, 1, &down, &up);
    if (code != MPI_SUCCESS) return code;
    neighbors.to.insert(neighbors.to.end(), {down, up});
  }
  neighbors.from = neighbors.to;
  neighbors.matching = EdgeMatching::cartesian;
  return MPI_SUCCESS;
}

int find_graph(MPI_Comm communicator, int rank, Neighbors& neighbors) {
  int count = 0;
  if (const int code = host_mpi().Graph_neighbors_count(communicator, rank, &count);
      code != MPI_SUCCESS) {
    return code;
  }
  neighbors.to.resize(static_cast<std::size_t>(count));
  const int code = host_mpi().Graph_neighbors(communicator, rank, count, host_list(neighbors.to));
  neighbors.from = neighbors.to;
  return code;
}

int find_distributed_graph(MPI_Comm communicator, Neighbors& neighbors) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  if (const int code = host_mpi().Dist_graph_neighbors_count(communicator, &in, &out, &weighted);
      code != MPI_SUCCESS) {
    return code;
  }
  neighbors.from.resize(static_cast<std::size_t>(in));
  neighbors.to.resize(static_cast<std::size_t>(out));
  // Not MPI_UNWEIGHTED: if there are weights, some hosts write to that address.
  std::vector<int> in_weights(neighbors.from.size());
  std::vector<int> out_weights(neighbors.to.size());
  return host_mpi().Dist_graph_neighbors(communicator, in, host_list(neighbors.from),
                                         host_list(in_weights), out, host_list(neighbors.to),
                                         host_list(out_weights));
}

/// Finds the neighbors in the topology of a communicator. Fails if it has no topology.
Failure find_neighbors(MPI_Comm communicator, int rank, Neighbors& neighbors) {
  int topology = MPI_UNDEFINED;
  int code = host_mpi().Topo_test(communicator, &topology);
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

/// Alltoall and alltoallw.
class PlannedAlltoall final : public Planned {
 public:
  PlannedAlltoall(CollectiveKind kind, AlltoallvArguments arguments)
      : kind_(kind), arguments_(std::move(arguments)) {}

  CollectiveKind kind() const override { return kind_; }
  Failure read_arguments() override {
    if (const Failure bad = read_buffers(arguments_, buffers_)) return bad;
    return check_overlap(arguments_.receive, buffers_.receives);
  }
  MadeSchedule schedule(const NodeMap& node_map, const Limits&) override {
    return buffers_.schedule(node_map.rank(), arguments_.in_place);
  }

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
  Failure read_arguments() override {
    if (const Failure bad = read_buffers(arguments_, buffers_)) return bad;
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
  void add_to(Signature& signature) const override {
    for (const Buffer& block : buffers_.receives) signature.with(bytes_in(block));
  }
  MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) override {
    const Buffer own = arguments_.in_place ? Buffer() : buffers_.sends.front();
    return allgatherv(node_map, own, buffers_.receives, limits);
  }

 private:
  AlltoallvArguments arguments_;
  int rank_;
  AlltoallvBuffers buffers_;
};

/// Neighbor_alltoallv. `arguments`: a block for each edge. `fault`: that of find_neighbors().
class PlannedNeighbors final : public Planned {
 public:
  PlannedNeighbors(AlltoallvArguments arguments, Neighbors neighbors, Failure fault)
      : arguments_(std::move(arguments)), neighbors_(std::move(neighbors)), fault_(fault) {}

  CollectiveKind kind() const override { return CollectiveKind::neighbor_alltoallv; }
  Failure read_arguments() override {
    if (fault_) return fault_;
    if (arguments_.in_place) return {MPI_ERR_BUFFER, "MPI_IN_PLACE is not for this call"};
    if (const Failure bad = read_buffers(arguments_, buffers_)) return bad;
    for (std::size_t i = 0; i < neighbors_.from.size(); ++i) {
      if (neighbors_.from[i] < 0) buffers_.receives[i].count = 0;
    }
    return check_overlap(arguments_.receive, buffers_.receives);
  }
  MadeSchedule schedule(const NodeMap& node_map, const Limits&) override {
    return neighbor_alltoallv(node_map.rank(), edges_of(neighbors_.to, buffers_.sends),
                              edges_of(neighbors_.from, buffers_.receives), neighbors_.matching);
  }

 private:
  static std::vector<Edge> edges_of(const std::vector<int>& ranks,
                                    const std::vector<Buffer>& buffers) {
    std::vector<Edge> edges;
    edges.reserve(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) edges.push_back({ranks[i], buffers[i]});
    return edges;
  }

  AlltoallvArguments arguments_;
  Neighbors neighbors_;
  Failure fault_;
  AlltoallvBuffers buffers_;
};

class PlannedBcast final : public Planned {
 public:
  /// `block`: a buffer with one count.
  PlannedBcast(AlltoallvSide block, int root, int ranks)
      : block_(std::move(block)), root_(root), ranks_(ranks) {}

  CollectiveKind kind() const override { return CollectiveKind::bcast; }
  Failure read_arguments() override {
    if (const Failure bad = check_root(root_, ranks_)) return bad;
    if (block_.buffer == MPI_IN_PLACE) return {MPI_ERR_BUFFER, "MPI_IN_PLACE is not for this call"};
    std::uint32_t kind = 0;
    return read_side(block_, buffers_, kind);
  }
  void add_to(Signature& signature) const override {
    signature.with_root(root_).with(bytes_in(buffers_.front()));
  }
  MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) override {
    return bcast(node_map, root_, buffers_.front(), limits);
  }

 private:
  AlltoallvSide block_;
  int root_;
  int ranks_;
  std::vector<Buffer> buffers_;
};

/// The steps of each call: the host's call if Oriel is disabled; otherwise make(caller) returns the
/// Planned. `arguments`: those of the call up to the communicator.
template <typename Make, typename... Arguments>
int make_collective(const char* call, MPI_Comm comm, MPI_Info info, MPI_Request* request,
                    Make&& make, Arguments... arguments) {
  CollectiveCaller caller;
  if (const int code = find_caller(call, comm, caller); code != MPI_SUCCESS) return code;
  if (runtime.disabled()) return call_host(call, comm, arguments..., comm, info, request);
  auto planned = make(caller);
  return make_planned(call, planned, comm, caller.rank, info, request);
}

template <typename Count>
int alltoall_init(const char* call, ORIEL_ALLTOALL_ARGS(Count), MPI_Comm comm, MPI_Info info,
                  MPI_Request* request) {
  const auto make = [&](const CollectiveCaller& caller) {
    AlltoallvArguments arguments;
    arguments.in_place = sendbuf == MPI_IN_PLACE;
    if (!arguments.in_place)
      arguments.send = blocks_of("sendcount", sendbuf, sendcount, sendtype, caller.ranks);
    arguments.receive = blocks_of("recvcount", recvbuf, recvcount, recvtype, caller.ranks);
    return PlannedAlltoall(CollectiveKind::alltoall, std::move(arguments));
  };
  return make_collective(call, comm, info, request, make, ORIEL_ALLTOALL_NAMES);
}

template <typename Count, typename Displacement>
int alltoallw_init(const char* call, ORIEL_ALLTOALLW_ARGS(Count, Displacement), MPI_Comm comm,
                   MPI_Info info, MPI_Request* request) {
  const auto make = [&](const CollectiveCaller& caller) {
    AlltoallvArguments arguments;
    arguments.in_place = sendbuf == MPI_IN_PLACE;
    if (!arguments.in_place) {
      arguments.send =
          typed_blocks("sendcounts", sendbuf, sendcounts, sdispls, sendtypes, caller.ranks);
    }
    arguments.receive =
        typed_blocks("recvcounts", recvbuf, recvcounts, rdispls, recvtypes, caller.ranks);
    return PlannedAlltoall(CollectiveKind::alltoallw, std::move(arguments));
  };
  return make_collective(call, comm, info, request, make, ORIEL_ALLTOALLW_NAMES);
}

template <typename Count, typename Displacement>
int allgatherv_init(const char* call, ORIEL_ALLGATHERV_ARGS(Count, Displacement), MPI_Comm comm,
                    MPI_Info info, MPI_Request* request) {
  const auto make = [&](const CollectiveCaller& caller) {
    AlltoallvArguments arguments;
    arguments.in_place = sendbuf == MPI_IN_PLACE;
    if (!arguments.in_place)
      arguments.send = blocks_of("sendcount", sendbuf, sendcount, sendtype, 1);
    arguments.receive = AlltoallvSide("recvcounts", recvbuf, recvcounts, displs, recvtype,
                                      static_cast<std::size_t>(caller.ranks));
    return PlannedAllgatherv(std::move(arguments), caller.rank);
  };
  return make_collective(call, comm, info, request, make, ORIEL_ALLGATHERV_NAMES);
}

template <typename Count>
int bcast_init(const char* call, ORIEL_BCAST_ARGS(Count), MPI_Comm comm, MPI_Info info,
               MPI_Request* request) {
  const auto make = [&](const CollectiveCaller& caller) {
    return PlannedBcast(blocks_of("count", buffer, count, datatype, 1), root, caller.ranks);
  };
  return make_collective(call, comm, info, request, make, ORIEL_BCAST_NAMES);
}

template <typename Count>
int reduce_init(const char* call, ORIEL_REDUCE_ARGS(Count), MPI_Comm comm, MPI_Info info,
                MPI_Request* request) {
  const auto make = [&](const CollectiveCaller& caller) {
    return PlannedReduce(
        {sendbuf, recvbuf, count, datatype, op, root, caller.ranks, caller.rank == root});
  };
  return make_collective(call, comm, info, request, make, ORIEL_REDUCE_NAMES);
}

template <typename Count, typename Displacement>
int neighbor_alltoallv_init(const char* call, ORIEL_NEIGHBOR_ALLTOALLV_ARGS(Count, Displacement),
                            MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const auto make = [&](const CollectiveCaller& caller) {
    Neighbors neighbors;
    const Failure fault = find_neighbors(comm, caller.rank, neighbors);
    AlltoallvArguments arguments;
    arguments.in_place = sendbuf == MPI_IN_PLACE;
    arguments.send =
        AlltoallvSide("sendcounts", sendbuf, sendcounts, sdispls, sendtype, neighbors.to.size());
    arguments.receive =
        AlltoallvSide("recvcounts", recvbuf, recvcounts, rdispls, recvtype, neighbors.from.size());
    return PlannedNeighbors(std::move(arguments), std::move(neighbors), fault);
  };
  return make_collective(call, comm, info, request, make, ORIEL_NEIGHBOR_ALLTOALLV_NAMES);
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;

/// Defines a call with and without large counts. `Types` and `LargeTypes`: those of its counts and
/// displacements.
#define ORIEL_COLLECTIVE(Name, name, NAME, Types, LargeTypes) \
  ORIEL_COLLECTIVE_BY(Name##_init, name, NAME, Types)         \
  ORIEL_COLLECTIVE_BY(Name##_init_c, name, NAME, LargeTypes)
#define ORIEL_COLLECTIVE_BY(Call, name, NAME, Types)                               \
  ORIEL_CALL(Call)(ORIEL_##NAME##_ARGS Types, MPI_Comm comm, MPI_Info info,        \
                   MPI_Request * request) {                                        \
    return name##_init("ORIEL_" #Call, ORIEL_##NAME##_NAMES, comm, info, request); \
  }

ORIEL_COLLECTIVE(Alltoall, alltoall, ALLTOALL, (int), (MPI_Count))
ORIEL_COLLECTIVE(Alltoallw, alltoallw, ALLTOALLW, (int, int), (MPI_Count, MPI_Aint))
ORIEL_COLLECTIVE(Allgatherv, allgatherv, ALLGATHERV, (int, int), (MPI_Count, MPI_Aint))
ORIEL_COLLECTIVE(Bcast, bcast, BCAST, (int), (MPI_Count))
ORIEL_COLLECTIVE(Reduce, reduce, REDUCE, (int), (MPI_Count))
ORIEL_COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, (int, int),
                 (MPI_Count, MPI_Aint))
