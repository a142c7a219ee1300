// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/planned_rooted.hpp"

#include <string>

#include "boundary/operations/ops.hpp"
#include "boundary/runtime/runtime.hpp"
#include "core/collective/schedules/bcast.hpp"
#include "core/collective/schedules/buffers_together.hpp"
#include "core/collective/schedules/reduce.hpp"

namespace oriel::boundary {
namespace {

// A sentence of this thread's, until its next failure.
thread_local std::string reason;

Failure check_root(int root, int ranks) {
  if (root >= 0 && root < ranks) return {};
  reason = "the root is " + std::to_string(root) + ", of " + std::to_string(ranks) + " ranks";
  return {MPI_ERR_ROOT, reason.c_str()};
}

}  // namespace

Failure PlannedBcast::take() {
  if (const Failure bad = check_root(root_, ranks_)) return bad;
  if (block_.buffer == MPI_IN_PLACE) return {MPI_ERR_BUFFER, "MPI_IN_PLACE is not for this call"};
  std::uint32_t kind = 0;
  return take_side(block_, buffers_, kind);
}

void PlannedBcast::tell(Topic& topic) const {
  topic.with_root(root_).with(bytes_in(buffers_.front()));
}

MadeSchedule PlannedBcast::schedule(const Placement& placement, const Limits& limits) {
  return bcast(placement, root_, buffers_.front(), limits);
}

Failure PlannedReduce::take() {
  if (const Failure bad = check_root(arguments_.root, arguments_.ranks)) return bad;
  if (arguments_.count < 0) {
    reason = "the count is " + std::to_string(arguments_.count);
    return {MPI_ERR_COUNT, reason.c_str()};
  }
  const Datatypes::Known* known = runtime.datatypes.find(arguments_.type);
  if (known == nullptr) return {MPI_ERR_TYPE, "the datatype is not valid or not committed"};
  const PredefinedType* basic = known->basic;
  if (basic == nullptr || known->layout->size() != basic->size ||
      known->layout->extent() != basic->extent || arguments_.op == MPI_REPLACE ||
      arguments_.op == MPI_NO_OP) {
    return {MPI_ERR_OP,
            "this call takes MPI_Reduce's predefined ops on predefined datatypes; use the MPI "
            "library's own call for others"};
  }
  const Failure bad = reduction_of(OperationKind::accumulate, arguments_.op, basic, reduction_);
  if (bad) return bad;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(arguments_.count),
                             static_cast<std::uint64_t>(basic->extent), &bytes)) {
    return {MPI_ERR_COUNT, "the vector lies beyond what an address can say"};
  }
  elements_ = known->elements;
  gaps_ = basic->extent != static_cast<std::int64_t>(reduction_.element);
  if (arguments_.at_root && arguments_.into == MPI_IN_PLACE) {
    return {MPI_ERR_BUFFER, "MPI_IN_PLACE is not for the receive buffer"};
  }
  if (arguments_.from != MPI_IN_PLACE) return {};
  if (!arguments_.at_root) return {MPI_ERR_BUFFER, "MPI_IN_PLACE is for the root alone"};
  arguments_.from = arguments_.into;
  return {};
}

void PlannedReduce::tell(Topic& topic) const {
  topic.with_root(arguments_.root)
      .with(static_cast<std::uint64_t>(arguments_.count))
      .with(static_cast<std::uint64_t>(reduction_.op))
      .with(static_cast<std::uint64_t>(reduction_.basic));
}

MadeSchedule PlannedReduce::schedule(const Placement& placement, const Limits& limits) {
  if (gaps_) return schedule_without_gaps(placement, limits);
  return reduce(
      placement, arguments_.root,
      {arguments_.from, arguments_.into, static_cast<std::uint64_t>(arguments_.count), reduction_},
      limits);
}

MadeSchedule PlannedReduce::schedule_without_gaps(const Placement& placement,
                                                  const Limits& limits) {
  const auto count = static_cast<std::uint64_t>(arguments_.count);
  packed_ = std::make_unique_for_overwrite<std::byte[]>(count * reduction_.element);
  const LayoutRef element(
      new Layout({{0, reduction_.element}}, reduction_.element, reduction_.basic));
  const Buffer packed{packed_.get(), count, element};
  // In place: who is not the root brings nothing back.
  MadeSchedule made =
      reduce(placement, arguments_.root, {packed_.get(), packed_.get(), count, reduction_}, limits);
  std::vector<Schedule::Copy>& copies = made.schedule.copies;
  copies.insert(copies.begin(), {elements(arguments_.from), packed, Schedule::before_all});
  if (arguments_.at_root) {
    copies.push_back({packed, elements(arguments_.into), made.schedule.last_step() + 1});
  }
  return made;
}

}  // namespace oriel::boundary
