// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/auto_choice.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/settings.hpp"
#include "core/collective/schedule.hpp"
#include "core/collective/schedules/gathered_alltoallw.hpp"
#include "core/collective/schedules/schedules.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/runtime.hpp"
#include "transport/shm/clock.hpp"

namespace oriel::mpi {
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
  const std::string version = library_version();
  for (const Banner& banner : banners) {
    if (!version.starts_with(banner.begin)) continue;
    const std::size_t first = version.find_first_not_of(" \t", banner.begin.size());
    if (first == std::string_view::npos) break;
    const std::size_t end = version.find_first_of(" ,\t\r\n", first);
    return std::string(banner.name) + ' ' + version.substr(first, end - first);
  }
  return {};
}

}  // namespace

Tuner& tuner() {
  static Tuner here(processor_model(), mpi_here(), ExchangeTimes::read(ExchangeTimes::path()));
  return here;
}

PlanTerms AutoChoice::terms(bool host_accepts, std::optional<std::uint64_t> starts) {
  PlanTerms terms;
  terms.bound = !host_accepts;
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
    if (window.read_member(rank).process >= CompositeTransport::first_elsewhere) return true;
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

void TriedCollective::add(Algorithm algorithm, std::unique_ptr<CollectiveTask> task,
                          ScheduleMemory memory, double making) {
  line_.of(algorithm).making = making;
  candidates_.push_back({algorithm, std::move(task), std::move(memory)});
}

int TriedCollective::make_sum_collectives(MPI_Comm communicator) {
  const PlanRegistry& plans = state_->plan_window().core();
  trial_ = StartTrial(candidates_.size());
  Failure bad;
  MadeSchedule collect;
  MadeSchedule spread;
  try {
    medians_.resize(candidates_.size());
    sums_.resize(candidates_.size());
    const NodeMap node_map(rank_, plans.nodes());
    const Vectors vectors{.from = medians_.data(),
                          .into = sums_.data(),
                          .count = sums_.size(),
                          .reduction = {Op::sum, Basic::f64, sizeof(double)},
                          .own_op = {}};
    collect = reduce(node_map, 0, vectors, plans.limits());
    spread =
        bcast(node_map, 0, bytes_at(sums_.data(), sums_.size() * sizeof(double)), plans.limits());
  } catch (const std::bad_alloc&) {
    bad = no_memory;
  }
  if (const int code = make_sum_collectives(communicator, sum_collectives_[0],
                                            CollectiveKind::reduce, std::move(collect), bad);
      code != MPI_SUCCESS) {
    return code;
  }
  return make_sum_collectives(communicator, sum_collectives_[1], CollectiveKind::bcast,
                              std::move(spread), {});
}

int TriedCollective::make_sum_collectives(MPI_Comm communicator, SumCollective& collective,
                                          CollectiveKind kind, MadeSchedule made,
                                          const Failure& bad) {
  Plan* plan = nullptr;
  const int code = make_plan(call_, communicator, state_->plan_window(), made.schedule,
                             Signature(kind, Algorithm::automatic), bad, plan);
  if (code != MPI_SUCCESS) return code;
  collective.task = std::make_unique<PlanCollective>(state_, *plan);
  collective.memory = std::move(made.memory);
  return MPI_SUCCESS;
}

Failure TriedCollective::start() {
  const std::uint64_t number = started_++;
  began_ = 0;
  if (number < trial_.starts()) {
    current_ = trial_.candidate(number);
    began_ = nanoseconds_now();
  } else if (CollectiveTask* beside = sum_collective()) {
    current_ = 0;
    if (number == trial_.starts()) {
      for (std::size_t at = 0; at < medians_.size(); ++at) medians_[at] = trial_.median(at);
    }
    if (Failure bad = beside->start()) return bad;
  } else if (!decided_) {
    decide();
  }
  return current().task->start();
}

bool TriedCollective::done() {
  if (!current().task->done()) return false;
  if (began_ != 0) {
    constexpr double nanoseconds = 1e-3;  // in microseconds
    trial_.record(started_ - 1, static_cast<double>(nanoseconds_now() - began_) * nanoseconds);
    began_ = 0;
  }
  CollectiveTask* beside = sum_collective();
  return beside == nullptr || beside->done();
}

Failure TriedCollective::outcome() const {
  if (Failure bad = current().task->outcome()) return bad;
  const CollectiveTask* beside = sum_collective();
  return beside != nullptr ? beside->outcome() : Failure();
}

void TriedCollective::abandon() {
  current().task->abandon();
  if (CollectiveTask* beside = sum_collective()) beside->abandon();
}

bool TriedCollective::may_start_again() const {
  // A rank without the sums would choose differently from the others.
  return sum_collective() == nullptr && current().task->may_start_again();
}

void TriedCollective::let_go() {
  // If the request was last started for the bcast, the sums have arrived but are not used yet.
  const bool sums_arrived =
      started_ == trial_.starts() + sum_collectives_.size() && sum_collectives_.back().task->done();
  if (!decided_ && sums_arrived) decide();
  if (decided_) {
    current().task->let_go();
    return;
  }
  if (started_ != 0) state_->record_trial_cut_short();
  for (const SumCollective& one : sum_collectives_) {
    if (one.task != nullptr) one.task->let_go();
  }
  for (const Candidate& one : candidates_) one.task->let_go();
}

int TriedCollective::lost() {
  const int rank = current().task->lost();
  CollectiveTask* beside = sum_collective();
  return rank >= 0 || beside == nullptr ? rank : beside->lost();
}

void TriedCollective::decide() {
  current_ = StartTrial::fastest(sums_);
  for (const SumCollective& one : sum_collectives_) one.task->let_go();
  decided_ = true;
  for (std::size_t at = 0; at < candidates_.size(); ++at) {
    line_.of(candidates_[at].algorithm).start = sums_[at] / line_.ranks;
    if (at == current_) continue;
    // The task itself is kept, because a host's request must not be freed with the process lock.
    candidates_[at].task->let_go();
  }
  if (rank_ != 0) return;
  AutoChoice::report(call_, line_.ranks, name_of(current().algorithm),
                     "tried with " + std::to_string(line_.bytes) + " bytes: " + line_.times());
  tuner().learn(line_);
}

}  // namespace oriel::mpi
