// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/planned_reduce.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpi/collectives/alltoallv_arguments.hpp"
#include "mpi/runtime/fortran_arguments.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

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

}  // namespace

Failure check_root(int root, int ranks) {
  if (root >= 0 && root < ranks) return {};
  return said(MPI_ERR_ROOT,
              "the root is " + std::to_string(root) + ", of " + std::to_string(ranks) + " ranks");
}

Failure PlannedReduce::read_arguments() {
  if (const Failure bad = check_root(arguments_.root, arguments_.ranks)) return bad;
  if (arguments_.count < 0) {
    return said(MPI_ERR_COUNT, "the count is " + std::to_string(arguments_.count));
  }
  const Datatypes::Known* known = runtime.datatypes.find_committed(arguments_.type);
  if (known == nullptr) return {MPI_ERR_TYPE, "the datatype is not valid or not committed"};
  const std::optional<OwnFunction> function = own_ops.find(arguments_.op);
  if (const Failure bad = function ? read_own_op(*function, known->layout) : read_op(*known)) {
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

Failure PlannedReduce::read_op(const Datatypes::Known& known) {
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

Failure PlannedReduce::read_own_op(const OwnFunction& function, const LayoutRef& layout) {
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
