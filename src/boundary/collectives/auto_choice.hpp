// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "boundary/collectives/algorithm.hpp"
#include "boundary/collectives/plan_window.hpp"
#include "core/collective/measured.hpp"
#include "core/collective/plan.hpp"

namespace oriel::boundary {

/// What `auto` is for one request: notified, notified_hierarchy or two_sided. Rank 0 chooses by
/// what was measured here, and the making of the plan tells all ranks, with words that it exchanges
/// anyway.
class AutoChoice {
 public:
  AutoChoice(PlanWindow& plans, int rank, int ranks) : plans_(plans), rank_(rank), ranks_(ranks) {}

  /// For the plan's making, during which this lives. `host_takes`: the host's own call would do.
  /// Without the process lock: the first time it reads a file.
  PlanTerms terms(bool host_takes);
  /// As the plan has been made, the same on all ranks. With
  /// ORIEL_INFO rank 0 says why.
  Algorithm made_by(const Plan& plan, const char* call) const;

 private:
  Measured::Choice choose(std::uint64_t longest);
  bool several_nodes() const;
  void report(Measured::Choice chosen, const char* call) const;

  PlanWindow& plans_;
  int rank_;
  int ranks_;
  // Of rank 0:
  bool asked_ = false;
  std::uint64_t longest_ = 0;
  const Measured::Line* line_ = nullptr;
};

}  // namespace oriel::boundary
