// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/tried_collective.hpp"

#include <new>
#include <span>
#include <string>
#include <utility>

#include "boundary/collectives/auto_choice.hpp"
#include "boundary/collectives/measured_here.hpp"
#include "boundary/collectives/plan_collective.hpp"
#include "boundary/collectives/plan_maker.hpp"
#include "core/collective/schedules/allgatherv.hpp"
#include "core/collective/schedules/buffers_together.hpp"
#include "transport/shm/clock.hpp"

namespace oriel::boundary {

void TriedCollective::add(Measured::Choice choice, std::unique_ptr<CollectiveTask> task,
                          ScheduleMemory memory, double making) {
  line_.of(choice).making = making;
  candidates_.push_back({choice, std::move(task), std::move(memory)});
}

int TriedCollective::make_telling(MPI_Comm communicator) {
  PlanWindow& plans = state_->plan_window();
  trial_ = StartTrial(candidates_.size());
  Failure bad;
  MadeSchedule made;
  try {
    means_.resize(candidates_.size());
    medians_.resize(means_.size() * static_cast<std::size_t>(line_.ranks));
    std::vector<Buffer> blocks;
    for (std::size_t at = 0; at < medians_.size(); at += means_.size()) {
      blocks.push_back(bytes_at(&medians_[at], means_.size() * sizeof(double)));
    }
    made = allgatherv(NodeMap(rank_, plans.core().nodes()), {}, blocks, plans.core().limits());
  } catch (const std::bad_alloc&) {
    bad = no_memory;
  }
  Plan* plan = nullptr;
  const Signature signature(CollectiveKind::allgatherv, Algorithm::automatic);
  if (const int code = make_plan(call_, communicator, plans, made.schedule, signature, bad, plan);
      code != MPI_SUCCESS) {
    return code;
  }
  telling_ = std::make_unique<PlanCollective>(state_, *plan);
  telling_memory_ = std::move(made.memory);
  return MPI_SUCCESS;
}

Failure TriedCollective::start() {
  const std::uint64_t number = started_++;
  began_ = 0;
  if (number < trial_.starts()) {
    current_ = trial_.candidate(number);
    began_ = nanoseconds_now();
  } else if (number == trial_.starts()) {
    current_ = 0;
    tell();
    if (Failure bad = telling_->start()) return bad;
  } else if (!settled_) {
    settle();
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
  return !telling() || telling_->done();
}

Failure TriedCollective::outcome() const {
  if (Failure bad = current().task->outcome()) return bad;
  return telling() ? telling_->outcome() : Failure();
}

void TriedCollective::abandon() {
  current().task->abandon();
  if (telling()) telling_->abandon();
}

bool TriedCollective::may_start_again() const {
  // Ranks that do not know all times would choose differently.
  return !telling() && current().task->may_start_again();
}

void TriedCollective::let_go() {
  if (settled_) {
    current().task->let_go();
    return;
  }
  if (started_ != 0) state_->note_trial_cut_short();
  if (telling_ != nullptr) telling_->let_go();
  for (const Candidate& one : candidates_) one.task->let_go();
}

int TriedCollective::lost() {
  const int rank = current().task->lost();
  return rank >= 0 || !telling() ? rank : telling_->lost();
}

void TriedCollective::tell() {
  double* own = &medians_[static_cast<std::size_t>(rank_) * candidates_.size()];
  for (std::size_t at = 0; at < candidates_.size(); ++at) own[at] = trial_.median(at);
}

void TriedCollective::settle() {
  StartTrial::take_means(medians_, means_);
  current_ = StartTrial::fastest(means_);
  telling_->let_go();
  settled_ = true;
  for (std::size_t at = 0; at < candidates_.size(); ++at) {
    line_.of(candidates_[at].choice).start = means_[at];
    if (at == current_) continue;
    // The task itself stays: the host's request is not freed with the process lock.
    candidates_[at].task->let_go();
  }
  if (rank_ != 0) return;
  AutoChoice::report(call_, line_.ranks, name_of(current().choice),
                     "tried with " + std::to_string(line_.bytes) + " bytes: " + times_of(line_));
  MeasuredHere::get().learn(line_);
}

}  // namespace oriel::boundary
