// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/planned.hpp"

#include <new>
#include <utility>

#include "boundary/collectives/algorithm.hpp"
#include "boundary/collectives/collective_making.hpp"
#include "boundary/collectives/plan_maker.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {
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

}  // namespace oriel::boundary
