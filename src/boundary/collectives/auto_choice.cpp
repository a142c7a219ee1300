// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/auto_choice.hpp"

#include <array>
#include <cstddef>
#include <cstdio>

#include "boundary/collectives/measured_here.hpp"
#include "boundary/host/host.hpp"
#include "boundary/runtime/runtime.hpp"
#include "core/base/settings.hpp"
#include "core/collective/schedules/gathered_alltoallw.hpp"
#include "core/collective/start_trial.hpp"

namespace oriel::boundary {
namespace {

/// The value of Plan::choice() for a trial; the other values are those of Measured::Choice.
constexpr auto to_be_tried = static_cast<std::uint8_t>(Measured::choices);

/// A trial pays if the request has at least this many times as many starts as the trial.
constexpr std::uint64_t worth_a_trial = 2;

/// Half the number of communicators that the host with the fewest (MPICH) can have.
constexpr std::size_t most_duplicates = 1024;

Algorithm algorithm_of(Measured::Choice choice) {
  switch (choice) {
    case Measured::Choice::notified_hierarchy:
      return Algorithm::notified_hierarchy;
    case Measured::Choice::two_sided:
      return Algorithm::two_sided;
    case Measured::Choice::fence:
      return Algorithm::fence;
    case Measured::Choice::lock:
      return Algorithm::lock;
    case Measured::Choice::notified:
      break;
  }
  return Algorithm::notified;
}

}  // namespace

PlanTerms AutoChoice::terms(bool host_takes, std::optional<std::uint64_t> starts) {
  PlanTerms terms;
  terms.bound = !host_takes;
  if (rank_ != 0) return terms;
  starts_ = starts;
  MeasuredHere::get();
  terms.choose = [this](std::uint64_t longest) { return choose(longest); };
  return terms;
}

Algorithm AutoChoice::made_by(const Plan& plan) const {
  const bool tried = plan.choice() == to_be_tried;
  const auto chosen = static_cast<Measured::Choice>(plan.choice());
  if (rank_ == 0) report(call_, ranks_, tried ? "tried" : name_of(chosen), reason());
  return tried ? Algorithm::automatic : algorithm_of(chosen);
}

Measured::Line AutoChoice::tried() const {
  Measured::Line line;
  line.ranks = ranks_;
  line.nodes = several_nodes() ? 2 : 1;  // 2: two nodes or more
  line.bytes = longest_;
  return line;
}

std::uint8_t AutoChoice::choose(std::uint64_t longest) {
  constexpr auto notified = static_cast<std::uint8_t>(Measured::Choice::notified);
  asked_ = true;
  longest_ = longest;
  // A request that uses or tries `two_sided` may need a communicator of its own, of which hosts
  // have some thousands: `auto` does not use up the last ones.
  crowded_ = state_.duplicates_in_use() >= most_duplicates;
  if (crowded_) return notified;
  line_ = MeasuredHere::get().nearest(ranks_, several_nodes(), longest);
  if (line_) return static_cast<std::uint8_t>(line_->cheapest(gathers(), starts_));
  if (ranks_ == 1 || longest == 0) return notified;
  const std::uint64_t needed = worth_a_trial * StartTrial::starts(gathers() ? 3 : 2);
  const bool long_lived = starts_ ? *starts_ >= needed : !state_.trial_cut_short();
  return long_lived ? to_be_tried : notified;
}

bool AutoChoice::several_nodes() const {
  const Window& window = state_.plan_window().window();
  for (int rank = 0; rank < ranks_; ++rank) {
    if (window.look(rank).process >= CompositeTransport::first_elsewhere) return true;
  }
  return false;
}

bool AutoChoice::gathers() const {
  return gathers_anywhere(NodeMap(rank_, state_.plan_window().core().nodes()));
}

std::string AutoChoice::reason() const {
  if (!asked_) return "the MPI library's own call does not take these counts";
  std::string why = "at most " + std::to_string(longest_) + " bytes to each other one";
  if (starts_) why += ", started " + std::to_string(*starts_) + " times";
  if (crowded_) {
    return why + "; " + std::to_string(most_duplicates) +
           " requests have duplicates of the communicator, and no more are made";
  }
  if (!line_) {
    return why + "; nothing like it was measured with " + MeasuredHere::get().mpi() +
           " on this processor";
  }
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(),
                "; measured with %d ranks on %s and %llu bytes: ", line_->ranks,
                line_->nodes == 1 ? "1 node" : "several nodes",
                static_cast<unsigned long long>(line_->bytes));
  return why + text.data() + times_of(*line_);
}

void AutoChoice::report(const char* call, int ranks, const char* chosen, const std::string& why) {
  if (!setting_bool("ORIEL_INFO")) return;
  std::fprintf(stderr, "oriel: %s, %d ranks: auto is %s: %s\n", call, ranks, chosen, why.c_str());
}

std::string times_of(const Measured::Line& line) {
  std::string times;
  for (std::size_t at = 0; at < Measured::choices; ++at) {
    const auto choice = static_cast<Measured::Choice>(at);
    if (line.of(choice).start <= 0) continue;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s%s %.3g us", times.empty() ? "" : ", ",
                  name_of(choice), line.of(choice).start);
    times += text.data();
  }
  return times;
}

}  // namespace oriel::boundary
