// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/gathered_plan.hpp"

#include <new>

#include "boundary/collectives/plan_maker.hpp"
#include "boundary/runtime/runtime.hpp"
#include "core/collective/schedules/gathered_alltoallw.hpp"
#include "core/collective/schedules/lengths_exchange.hpp"
#include "engine/progress/lost_peers.hpp"
#include "engine/progress/waiting.hpp"

namespace oriel::boundary {
namespace {

Failure use_once(PlanWindow& plans, Plan& plan) {
  const Guard guard(engine.lock);
  Flag completion;
  plan.start(completion);
  Failure bad = sweep_until(
      engine, plans.window().events(), {WaitReason::collective}, [&] { return completion.done(); },
      [&] { return look_for_any_lost(plans.window()); });
  if (!bad)
    bad = failure(completion.error(), "the ranks could not tell one another how much they send");
  plans.core().free(plan);
  return bad;
}

}  // namespace

int make_gathered_plan(const char* call, MPI_Comm communicator, PlanWindow& plans, int rank,
                       const AlltoallvBuffers& buffers, bool in_place, MadeSchedule& made,
                       Plan*& plan) {
  const NodeMap node_map(rank, plans.core().nodes());
  const Signature signature(CollectiveKind::alltoallv, Algorithm::notified_hierarchy);
  LengthsExchange exchange(node_map, buffers.sends, plans.core().limits());
  Plan* telling = nullptr;
  if (const int code =
          make_plan(call, communicator, plans, exchange.schedule(), signature, {}, telling);
      code != MPI_SUCCESS) {
    return code;
  }
  // The next make_plan() reports a failure of this rank to the others.
  Failure bad = use_once(plans, *telling);
  made = {};
  if (!bad) {
    try {
      made = in_place ? gathered_alltoallw_in_place(node_map, buffers.receives, exchange.lengths())
                      : gathered_alltoallw(node_map, buffers.sends, buffers.receives,
                                           exchange.lengths());
    } catch (const std::bad_alloc&) {
      bad = no_memory;
    }
  }
  return make_plan(call, communicator, plans, made.schedule, signature, bad, plan);
}

}  // namespace oriel::boundary
