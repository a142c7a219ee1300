// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/plan_collective.hpp"

#include <string>

#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {

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

}  // namespace oriel::boundary
