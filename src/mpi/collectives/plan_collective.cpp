// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/plan_collective.hpp"

#include <new>
#include <string>
#include <utility>

#include "core/collective/schedules/gathered_alltoallw.hpp"
#include "engine/host/error_report.hpp"
#include "engine/progress/lost_peers.hpp"
#include "engine/progress/waiting.hpp"
#include "mpi/collectives/agreement.hpp"
#include "mpi/progress/mpi_host.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

std::string mismatch_of(const PlanFault& fault, const std::string& sent,
                        const std::string& expected) {
  return mismatch(fault.sender, std::to_string(fault.sent) + sent, fault.receiver, expected);
}

/// The reporting rank's reason, as each rank raises it. All ranks call this: the reason is
/// broadcast.
std::string spread(const std::string& reason, int reporting_rank, int rank, MPI_Comm communicator) {
  std::string words = reason;
  MpiComm comm(communicator);
  share_report(comm, reporting_rank, words);
  if (rank == reporting_rank) return words;
  return "rank " + std::to_string(reporting_rank) + " could not take part: " + words;
}

/// The values on which two ranks do not agree.
Explanation differing(const PlanFault& fault) {
  const Signature one(fault.sent);
  const Signature other(fault.space);
  const std::string ranks =
      "rank " + std::to_string(fault.sender) + " and rank " + std::to_string(fault.receiver);
  if (!one.same_way(other)) {
    return {MPI_ERR_INFO_VALUE, ranks +
                                    " make different collectives, or give the info key "
                                    "oriel_alltoallv different values"};
  }
  if (one.root() != other.root()) {
    return {MPI_ERR_ROOT, ranks + " name different roots: " + std::to_string(one.root()) + " and " +
                              std::to_string(other.root())};
  }
  if (one.kind() == CollectiveKind::reduce) {
    return {MPI_ERR_ARG, ranks + " do not give the same count, datatype and op"};
  }
  return {MPI_ERR_TRUNCATE, ranks + " do not give the same numbers of bytes"};
}

Explanation explain(const PlanFault& fault, int rank, const Failure& own, MPI_Comm communicator) {
  switch (fault.kind) {
    case PlanFault::Kind::arguments:
      return {static_cast<int>(fault.sent), spread(own.reason, fault.sender, rank, communicator)};
    case PlanFault::Kind::truncated:
      return {MPI_ERR_TRUNCATE, mismatch_of(fault, " bytes", std::to_string(fault.space))};
    case PlanFault::Kind::types:
      return {MPI_ERR_TYPE, mismatch_of(fault, " bytes of one datatype", "another one")};
    case PlanFault::Kind::signature:
      return differing(fault);
    case PlanFault::Kind::memory:
      return {MPI_ERR_NO_MEM, "rank " + std::to_string(fault.sender) + " cannot share " +
                                  std::to_string(fault.sent) + " bytes with its node"};
    case PlanFault::Kind::unmatched:
    case PlanFault::Kind::none:
      break;
  }
  return {MPI_ERR_ARG, "rank " + std::to_string(fault.receiver) + " expects " +
                           std::to_string(fault.space) + " bytes of which rank " +
                           std::to_string(fault.sender) + " does not know"};
}

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

Failure read_arguments(Planned& planned, MPI_Info info, Algorithm& algorithm) {
  {
    const Guard guard(engine.lock);
    if (const Failure bad = planned.read_arguments()) return bad;
  }
  if (const Failure bad = read_algorithm(info, algorithm)) return bad;
  if (algorithm == Algorithm::automatic || algorithm == Algorithm::notified) return {};
  return {MPI_ERR_INFO_VALUE, "of the values of oriel_alltoallv this call takes auto and notified"};
}

}  // namespace

int make_plan(const char* call, MPI_Comm communicator, PlanWindow& plans, const Schedule& schedule,
              const Signature& signature, const Failure& own, Plan*& made, PlanTerms terms) {
  terms.signature = signature.word();
  terms.bad_arguments = own.error_class;
  Explanation explanation;
  PlanFault fault;
  int rank = 0;
  {
    const Guard guard(engine.lock);
    Plan& plan = plans.core().make(schedule, terms);
    const Failure lost = sweep_until(
        engine, plans.window().events(), {WaitReason::collective},
        [&] { return plan.advance_making(); }, [&] { return look_for_any_lost(plans.window()); });
    if (lost) {
      // The plan is not freed, because other ranks may still make it.
      explanation = {lost.error_class, lost.reason};
    } else if (plan.fault()) {
      fault = plan.fault();
      rank = plans.core().resources().region.rank();
      plans.core().free(plan);
    } else {
      made = &plan;
      return MPI_SUCCESS;
    }
  }
  if (fault) explanation = explain(fault, rank, own, communicator);
  return raise(communicator, call, explanation.error_class, explanation.reason);
}

int make_gathered_plan(const char* call, MPI_Comm communicator, PlanWindow& plans, int rank,
                       const AlltoallvBuffers& buffers, bool in_place, MadeSchedule& made,
                       Plan*& plan) {
  const NodeMap node_map(rank, plans.core().nodes());
  const Signature signature(CollectiveKind::alltoallv, Algorithm::notified_hierarchy);
  LengthsExchange exchange(node_map, buffers.sends, plans.core().limits());
  Plan* lengths_plan = nullptr;
  if (const int code =
          make_plan(call, communicator, plans, exchange.schedule(), signature, {}, lengths_plan);
      code != MPI_SUCCESS) {
    return code;
  }
  // The next make_plan() reports a failure of this rank to the others.
  Failure bad = use_once(plans, *lengths_plan);
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

Failure PlanCollective::start() {
  completion_ = Flag();
  plan_.start(completion_);
  if (state_->plan_window().sends_messages()) engine.agent.wake_after_operation();
  return {};
}

Failure PlanCollective::outcome() const {
  if (completion_.error() == Error::none) return {};
  const PlanFailure& failed = plan_.failure();
  return said(error_class(completion_.error()),
              "the bytes " + std::string(failed.sent ? "for" : "from") + " rank " +
                  std::to_string(failed.rank) +
                  " of the communicator could not be moved: the operating system or the network "
                  "has refused it");
}

int make_planned(const char* call, Planned& planned, MPI_Comm communicator, int rank, MPI_Info info,
                 MPI_Request* request) {
  CollectiveMaking making;
  if (const int code = making.open(call, communicator); code != MPI_SUCCESS) return code;
  Algorithm algorithm = Algorithm::automatic;
  Failure bad = check_outputs(request);
  if (!bad) bad = read_arguments(planned, info, algorithm);
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

}  // namespace oriel::mpi
