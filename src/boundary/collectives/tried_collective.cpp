// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/tried_collective.hpp"

#include <new>
#include <string>
#include <utility>

#include "boundary/collectives/auto_choice.hpp"
#include "boundary/collectives/plan_collective.hpp"
#include "boundary/collectives/plan_maker.hpp"
#include "core/collective/schedules/bcast.hpp"
#include "core/collective/schedules/buffers_together.hpp"
#include "core/collective/schedules/reduce.hpp"
#include "transport/shm/clock.hpp"

namespace oriel::boundary {

void TriedCollective::add(Algorithm algorithm, std::unique_ptr<CollectiveTask> task,
                          ScheduleMemory memory, double making) {
  line_.of(algorithm).making = making;
  candidates_.push_back({algorithm, std::move(task), std::move(memory)});
}

int TriedCollective::make_telling(MPI_Comm communicator) {
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
  if (const int code =
          make_telling(communicator, telling_[0], CollectiveKind::reduce, std::move(collect), bad);
      code != MPI_SUCCESS) {
    return code;
  }
  return make_telling(communicator, telling_[1], CollectiveKind::bcast, std::move(spread), {});
}

int TriedCollective::make_telling(MPI_Comm communicator, Telling& telling, CollectiveKind kind,
                                  MadeSchedule made, const Failure& bad) {
  Plan* plan = nullptr;
  const int code = make_plan(call_, communicator, state_->plan_window(), made.schedule,
                             Signature(kind, Algorithm::automatic), bad, plan);
  if (code != MPI_SUCCESS) return code;
  telling.task = std::make_unique<PlanCollective>(state_, *plan);
  telling.memory = std::move(made.memory);
  return MPI_SUCCESS;
}

Failure TriedCollective::start() {
  const std::uint64_t number = started_++;
  began_ = 0;
  if (number < trial_.starts()) {
    current_ = trial_.candidate(number);
    began_ = nanoseconds_now();
  } else if (CollectiveTask* beside = telling()) {
    current_ = 0;
    if (number == trial_.starts()) {
      for (std::size_t at = 0; at < medians_.size(); ++at) medians_[at] = trial_.median(at);
    }
    if (Failure bad = beside->start()) return bad;
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
  CollectiveTask* beside = telling();
  return beside == nullptr || beside->done();
}

Failure TriedCollective::outcome() const {
  if (Failure bad = current().task->outcome()) return bad;
  const CollectiveTask* beside = telling();
  return beside != nullptr ? beside->outcome() : Failure();
}

void TriedCollective::abandon() {
  current().task->abandon();
  if (CollectiveTask* beside = telling()) beside->abandon();
}

bool TriedCollective::may_start_again() const {
  // A rank without the sums would choose differently from the others.
  return telling() == nullptr && current().task->may_start_again();
}

void TriedCollective::let_go() {
  // If the request was last started for the bcast, the sums have arrived but are not used yet.
  const bool told = started_ == trial_.starts() + telling_.size() && telling_.back().task->done();
  if (!settled_ && told) settle();
  if (settled_) {
    current().task->let_go();
    return;
  }
  if (started_ != 0) state_->note_trial_cut_short();
  for (const Telling& one : telling_) {
    if (one.task != nullptr) one.task->let_go();
  }
  for (const Candidate& one : candidates_) one.task->let_go();
}

int TriedCollective::lost() {
  const int rank = current().task->lost();
  CollectiveTask* beside = telling();
  return rank >= 0 || beside == nullptr ? rank : beside->lost();
}

void TriedCollective::settle() {
  current_ = StartTrial::fastest(sums_);
  for (const Telling& one : telling_) one.task->let_go();
  settled_ = true;
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

}  // namespace oriel::boundary
