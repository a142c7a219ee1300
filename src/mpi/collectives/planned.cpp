// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/planned.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "core/collective/schedule.hpp"
#include "core/collective/schedules/schedules.hpp"
#include "mpi/collectives/algorithm.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/plan_collective.hpp"
#include "mpi/operations/ops.hpp"
#include "mpi/runtime/fortran_arguments.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

Failure take(Planned& planned, MPI_Info info, Algorithm& algorithm) {
  {
    const Guard guard(engine.lock);
    if (const Failure bad = planned.take()) return bad;
  }
  if (const Failure bad = read_algorithm(info, algorithm)) return bad;
  if (algorithm == Algorithm::automatic || algorithm == Algorithm::notified) return {};
  return {MPI_ERR_INFO_VALUE, "of the values of oriel_alltoallv this call takes auto and notified"};
}

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

/// Calls the function, for as many elements at a time as a Count can hold.
template <typename Count>
void call(void (*function)(void*, void*, Count*, MPI_Datatype*), const void* from, void* into,
          std::uint64_t count, MPI_Datatype type, std::uint64_t extent) {
  constexpr std::uint64_t most = std::numeric_limits<Count>::max();
  // MPI's prototype has no const for the vector that is only read.
  auto* in = static_cast<std::byte*>(const_cast<void*>(from));
  auto* inout = static_cast<std::byte*>(into);
  while (count != 0) {
    const std::uint64_t now = std::min(count, most);
    auto length = static_cast<Count>(now);
    MPI_Datatype handle = type;
    function(in, inout, &length, &handle);
    in += now * extent;
    inout += now * extent;
    count -= now;
  }
}

/// The function of a user-defined op, for elements of one datatype. The op itself may be freed
/// earlier.
class FunctionOp final : public OwnOp {
 public:
  /// `extent`: the extent of the datatype in bytes.
  FunctionOp(const OwnFunction& function, MPI_Datatype type, std::uint64_t extent)
      : function_(function), type_(type), extent_(extent) {}

  bool commutes() const override { return function_.commutes; }
  /// False on the agent's thread, because the program may have initialized MPI for a single thread.
  bool callable() const override { return !engine.agent.sweeping(); }
  void combine(const void* from, void* into, std::uint64_t count) override {
    if (function_.large != nullptr) {
      call(function_.large, from, into, count, type_, extent_);
    } else {
      call(function_.plain, from, into, count, type_, extent_);
    }
  }

 private:
  OwnFunction function_;
  MPI_Datatype type_;
  std::uint64_t extent_;
};

// Values for user-defined ops in a signature; those of predefined ops are below op_count.
constexpr std::uint64_t commuting = op_count;
constexpr std::uint64_t not_commuting = op_count + 1;

Failure check_root(int root, int ranks) {
  if (root >= 0 && root < ranks) return {};
  return said(MPI_ERR_ROOT,
              "the root is " + std::to_string(root) + ", of " + std::to_string(ranks) + " ranks");
}

}  // namespace

int make_planned(const char* call, Planned& planned, MPI_Comm communicator, int rank, MPI_Info info,
                 MPI_Request* request) {
  CollectiveMaking making;
  if (const int code = making.open(call, communicator); code != MPI_SUCCESS) return code;
  Algorithm algorithm = Algorithm::automatic;
  Failure bad = check_outputs(request);
  if (!bad) bad = take(planned, info, algorithm);
  Signature signature(planned.kind(), algorithm);
  MadeSchedule made;
  if (!bad) {
    planned.add_to(signature);
    const PlanRegistry& plans = making.plan_window().core();
    try {
      made = planned.schedule(NodeMap(rank, plans.nodes()), plans.limits());
    } catch (const std::bad_alloc&) {
      bad = no_memory;
    }
  }
  Plan* plan = nullptr;
  if (const int code =
          make_plan(call, communicator, making.plan_window(), made.schedule, signature, bad, plan);
      code != MPI_SUCCESS) {
    return code;
  }
  return making.finish(*plan, std::move(made.memory), request);
}

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

Failure PlannedBcast::take() {
  if (const Failure bad = check_root(root_, ranks_)) return bad;
  if (block_.buffer == MPI_IN_PLACE) return {MPI_ERR_BUFFER, "MPI_IN_PLACE is not for this call"};
  std::uint32_t kind = 0;
  return take_side(block_, buffers_, kind);
}

void PlannedBcast::add_to(Signature& signature) const {
  signature.with_root(root_).with(bytes_in(buffers_.front()));
}

MadeSchedule PlannedBcast::schedule(const NodeMap& node_map, const Limits& limits) {
  return bcast(node_map, root_, buffers_.front(), limits);
}

Failure PlannedReduce::take() {
  if (const Failure bad = check_root(arguments_.root, arguments_.ranks)) return bad;
  if (arguments_.count < 0) {
    return said(MPI_ERR_COUNT, "the count is " + std::to_string(arguments_.count));
  }
  const Datatypes::Known* known = runtime.datatypes.find(arguments_.type);
  if (known == nullptr) return {MPI_ERR_TYPE, "the datatype is not valid or not committed"};
  const std::optional<OwnFunction> function = own_ops.find(arguments_.op);
  if (const Failure bad = function ? take_own(*function, known->layout) : take_op(*known)) {
    return bad;
  }
  if (is_noncontiguous(arguments_.from) ||
      (arguments_.at_root && is_noncontiguous(arguments_.into))) {
    return {MPI_ERR_BUFFER, noncontiguous_refused};
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(arguments_.count),
                             static_cast<std::uint64_t>(elements_->extent()), &bytes)) {
    return {MPI_ERR_COUNT, "the vector lies beyond what an address can say"};
  }
  if (arguments_.at_root && arguments_.into == MPI_IN_PLACE) {
    return {MPI_ERR_BUFFER, "MPI_IN_PLACE is not for the receive buffer"};
  }
  if (arguments_.from == MPI_IN_PLACE) {
    if (!arguments_.at_root) return {MPI_ERR_BUFFER, "MPI_IN_PLACE is for the root alone"};
    arguments_.from = arguments_.into;
  }
  if (bytes == 0) return {};
  if (is_null(elements(arguments_.from))) return {MPI_ERR_BUFFER, "the send buffer is null"};
  if (arguments_.at_root && is_null(elements(arguments_.into))) {
    return {MPI_ERR_BUFFER, "the receive buffer is null"};
  }
  return {};
}

Failure PlannedReduce::take_op(const Datatypes::Known& known) {
  if (!predefined(arguments_.op)) {
    return {MPI_ERR_OP,
            "the op is neither one of MPI_Reduce's nor one that Oriel has seen MPI_Op_create make; "
            "use the MPI library's own call for it"};
  }
  const PredefinedType* basic = known.basic;
  if (basic == nullptr || known.layout->size() != basic->size ||
      known.layout->extent() != basic->extent) {
    return {MPI_ERR_OP, "a predefined op takes predefined datatypes alone"};
  }
  if (!has_reduction(arguments_.op, *basic)) {
    return {MPI_ERR_OP, "the op is not defined for this datatype"};
  }
  const Failure bad = reduction_of(OperationKind::accumulate, arguments_.op, basic, reduction_);
  if (bad) return bad;
  elements_ = known.elements;
  if (basic->extent != static_cast<std::int64_t>(reduction_.element)) {
    copied_ =
        LayoutRef(new Layout({{0, reduction_.element}}, reduction_.element, reduction_.basic));
  }
  return {};
}

Failure PlannedReduce::take_own(const OwnFunction& function, const LayoutRef& layout) {
  const std::int64_t extent = layout->extent();
  const auto [low, high] = layout->bounds(1);
  if (low < 0 || high > extent) {
    return {MPI_ERR_TYPE,
            "the op is the program's own, and the datatype's data reach before an element's start "
            "or beyond its extent"};
  }
  elements_ = layout;
  reduction_.element = 1;
  if (layout->size() == 0) {
    arguments_.count = 0;
  } else if (extent > std::numeric_limits<std::uint32_t>::max()) {
    return {MPI_ERR_TYPE, "the datatype's extent is 4 GB or more"};
  } else {
    reduction_.element = static_cast<std::uint32_t>(extent);
    if (!layout->contiguous()) copied_ = layout;
  }
  own_op_ = std::make_shared<FunctionOp>(function, arguments_.type, reduction_.element);
  return {};
}

void PlannedReduce::add_to(Signature& signature) const {
  signature.with_root(arguments_.root).with(static_cast<std::uint64_t>(arguments_.count));
  if (own_op_ != nullptr) {
    signature.with(own_op_->commutes() ? commuting : not_commuting)
        .with(elements_->size())
        .with(reduction_.element);
  } else {
    signature.with(static_cast<std::uint64_t>(reduction_.op))
        .with(static_cast<std::uint64_t>(reduction_.basic));
  }
}

MadeSchedule PlannedReduce::schedule(const NodeMap& node_map, const Limits& limits) {
  if (copied_) return schedule_on_copy(node_map, limits);
  return reduce(node_map, arguments_.root, vectors(arguments_.from, arguments_.into), limits);
}

MadeSchedule PlannedReduce::schedule_on_copy(const NodeMap& node_map, const Limits& limits) {
  const auto count = static_cast<std::uint64_t>(arguments_.count);
  // Zeroed, because its gaps are sent, too.
  auto packed = std::make_unique<std::byte[]>(count * reduction_.element);
  const Buffer copy{packed.get(), count, copied_};
  // In place on all ranks: only the root copies the result back.
  MadeSchedule made =
      reduce(node_map, arguments_.root, vectors(packed.get(), packed.get()), limits);
  made.memory.packed = std::move(packed);
  std::vector<Schedule::Copy>& copies = made.schedule.copies;
  copies.insert(copies.begin(), {elements(arguments_.from), copy, Schedule::before_all});
  if (arguments_.at_root) {
    copies.push_back({copy, elements(arguments_.into), made.schedule.last_step() + 1});
  }
  return made;
}

}  // namespace oriel::mpi
