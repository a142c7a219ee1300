// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "boundary/collectives/algorithm.hpp"
#include "boundary/collectives/collective_state.hpp"
#include "core/collective/plan.hpp"
#include "engine/tuning/tuner.hpp"

namespace oriel::boundary {

/// The Tuner of this process. The first call reads a file; the use of the result takes the process
/// lock.
Tuner& tuner();

/// The algorithm that `auto` selects for one request of an alltoallv. Rank 0 asks its Tuner. The
/// other ranks receive the choice in words that the making of the plan exchanges anyway.
class AutoChoice {
 public:
  AutoChoice(const char* call, CollectiveState& state, int rank, int ranks)
      : call_(call), state_(state), rank_(rank), ranks_(ranks) {}

  /// The terms for the making of the plan, during which this object exists. `host_takes`: the
  /// host's own call accepts the arguments. `starts`: the number of starts of the request, if this
  /// rank knows it. Without the process lock, because the first call reads a file.
  PlanTerms terms(bool host_takes, std::optional<std::uint64_t> starts);
  /// The algorithm, the same on all ranks, after the plan has been made; `automatic`: the first
  /// starts are a trial. With ORIEL_INFO rank 0 prints the reason.
  Algorithm made_by(const Plan& plan) const;
  /// For a trial: the line of its measurement, without the times.
  ExchangeTimes::Line tried() const;

  /// Prints the choice and its reason if ORIEL_INFO is set. Only on rank 0.
  static void report(const char* call, int ranks, const char* chosen, const std::string& why);

 private:
  std::uint8_t choose(std::uint64_t longest);
  bool several_nodes() const;
  bool gathers() const;
  std::string reason() const;

  const char* call_;
  CollectiveState& state_;
  int rank_;
  int ranks_;
  // Used on rank 0 only:
  bool asked_ = false;
  bool crowded_ = false;
  std::optional<std::uint64_t> starts_;
  std::uint64_t longest_ = 0;
  std::optional<ExchangeTimes::Line> line_;
};

}  // namespace oriel::boundary
