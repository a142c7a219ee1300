// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/auto_choice.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>

#include "boundary/host/host.hpp"
#include "boundary/host/library_version.hpp"
#include "boundary/runtime/runtime.hpp"
#include "core/base/settings.hpp"
#include "core/collective/schedules/gathered_alltoallw.hpp"

namespace oriel::boundary {
namespace {

/// Half the number of communicators that the host with the fewest (MPICH) can have.
constexpr std::size_t most_duplicates = 1024;

/// Name and version of the MPI in use, as the command `oriel` writes them. They are taken from
/// library_version(), because one library of Oriel's serves several MPIs. Empty: unknown.
std::string mpi_here() {
  struct Banner {
    std::string_view begin;
    const char* name;
  };
  constexpr std::array banners{Banner{"MPICH Version:", "mpich"}, Banner{"Open MPI v", "openmpi"},
                               Banner{"Intel(R) MPI Library", "intel"}};
  const std::string told = library_version();
  for (const Banner& banner : banners) {
    if (!told.starts_with(banner.begin)) continue;
    const std::size_t first = told.find_first_not_of(" \t", banner.begin.size());
    if (first == std::string_view::npos) break;
    const std::size_t end = told.find_first_of(" ,\t\r\n", first);
    return std::string(banner.name) + ' ' + told.substr(first, end - first);
  }
  return {};
}

}  // namespace

Tuner& tuner() {
  static Tuner here(processor_model(), mpi_here(), ExchangeTimes::read(ExchangeTimes::path()));
  return here;
}

PlanTerms AutoChoice::terms(bool host_takes, std::optional<std::uint64_t> starts) {
  PlanTerms terms;
  terms.bound = !host_takes;
  if (rank_ != 0) return terms;
  starts_ = starts;
  tuner();
  terms.choose = [this](std::uint64_t longest) { return choose(longest); };
  return terms;
}

Algorithm AutoChoice::made_by(const Plan& plan) const {
  const auto chosen = static_cast<Algorithm>(plan.choice());
  const bool tried = chosen == Algorithm::automatic;
  if (rank_ == 0) report(call_, ranks_, tried ? "tried" : name_of(chosen), reason());
  return chosen;
}

ExchangeTimes::Line AutoChoice::tried() const {
  ExchangeTimes::Line line;
  line.ranks = ranks_;
  line.nodes = several_nodes() ? 2 : 1;  // 2: two nodes or more
  line.bytes = longest_;
  return line;
}

std::uint8_t AutoChoice::choose(std::uint64_t longest) {
  asked_ = true;
  longest_ = longest;
  Tuner::Choice choice;
  // A request that uses or tries `two_sided` may need a communicator of its own, of which hosts
  // have some thousands: `auto` does not use up the last ones.
  crowded_ = state_.duplicates_in_use() >= most_duplicates;
  if (!crowded_) {
    choice = tuner().choose({.ranks = ranks_,
                             .several_nodes = several_nodes(),
                             .gathers = gathers(),
                             .longest = longest,
                             .seldom_started = state_.trial_cut_short(),
                             .starts = starts_});
  }
  line_ = std::move(choice.line);
  return static_cast<std::uint8_t>(choice.algorithm);
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
    return why + "; nothing like it was measured with " + tuner().mpi() + " on this processor";
  }
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(),
                "; measured with %d ranks on %s and %llu bytes: ", line_->ranks,
                line_->nodes == 1 ? "1 node" : "several nodes",
                static_cast<unsigned long long>(line_->bytes));
  return why + text.data() + line_->times();
}

void AutoChoice::report(const char* call, int ranks, const char* chosen, const std::string& why) {
  if (!setting_bool("ORIEL_INFO")) return;
  std::fprintf(stderr, "oriel: %s, %d ranks: auto is %s: %s\n", call, ranks, chosen, why.c_str());
}

}  // namespace oriel::boundary
