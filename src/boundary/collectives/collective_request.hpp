// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "boundary/collectives/collective_state.hpp"
#include "boundary/collectives/collective_task.hpp"
#include "boundary/requests/persistent_requests.hpp"
#include "core/collective/schedules/made_schedule.hpp"

namespace oriel::boundary {

/// The request of a persistent collective.
class CollectiveRequest final : public PersistentRequest {
 public:
  CollectiveRequest(std::shared_ptr<CollectiveState> state, std::unique_ptr<CollectiveTask> task,
                    ScheduleMemory memory)
      : PersistentRequest(Serves::again),
        state_(std::move(state)),
        task_(std::move(task)),
        memory_(std::move(memory)) {}

  ErrorTaker error_taker() const override;
  const Window* waits_on() const override { return state_->plan_window().core_window(); }
  bool wait_in_host() override { return task_->wait_in_host(); }
  Failure refuse_free() const override;

 private:
  Failure begin() override;
  void abandon() override;
  bool done() const override { return task_->done(); }
  Failure outcome() const override { return task_->outcome(); }
  void describe_end(MPI_Status* status) const override { make_empty(status); }
  int lost(LostSources&) const override { return task_->lost(); }
  Failure lost_failure(int rank) const override;
  void let_go() override { task_->let_go(); }

  std::shared_ptr<CollectiveState> state_;
  std::unique_ptr<CollectiveTask> task_;
  ScheduleMemory memory_;
  bool abandoned_ = false;
};

}  // namespace oriel::boundary
