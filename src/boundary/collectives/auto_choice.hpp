// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "boundary/collectives/algorithm.hpp"
#include "boundary/collectives/collective_state.hpp"
#include "core/collective/measured.hpp"
#include "core/collective/plan.hpp"

namespace oriel::boundary {

/// The algorithm that `auto` selects for one request of an alltoallv. Rank 0 selects it by the
/// known times of exchanges, and the making of the plan tells all ranks, with words that it
/// exchanges anyway.
class AutoChoice {
 public:
  AutoChoice(const char* call, CollectiveState& state, int rank, int ranks)
      : call_(call), state_(state), rank_(rank), ranks_(ranks) {}

  /// For the plan's making, during which this lives. `host_takes`: the host's own call would do.
  /// `starts`: how often the request will be started, as far as its rank knows. Without the process
  /// lock: the first time it reads a file.
  PlanTerms terms(bool host_takes, std::optional<std::uint64_t> starts);
  /// As the plan has been made, the same on all ranks; `automatic`: the first starts will show.
  /// With ORIEL_INFO rank 0 says why.
  Algorithm made_by(const Plan& plan) const;
  /// Of one that the first starts are to show: what they have measured, but for the times.
  Measured::Line tried() const;

  /// With ORIEL_INFO, on rank 0.
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
  // Of rank 0:
  bool asked_ = false;
  bool crowded_ = false;
  std::optional<std::uint64_t> starts_;
  std::uint64_t longest_ = 0;
  std::optional<Measured::Line> line_;
};

/// The times of a line, as a sentence has them.
std::string times_of(const Measured::Line& line);

}  // namespace oriel::boundary
