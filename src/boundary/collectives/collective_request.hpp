// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "boundary/collectives/carrier.hpp"
#include "boundary/collectives/collective_state.hpp"
#include "boundary/requests/persistent_requests.hpp"
#include "core/collective/schedules/made_schedule.hpp"

namespace oriel::boundary {

/// The request of a persistent collective.
class CollectiveRequest final : public PersistentRequest {
 public:
  CollectiveRequest(std::shared_ptr<CollectiveState> state, std::unique_ptr<Carrier> carrier,
                    ScheduleMemory memory)
      : PersistentRequest(Serves::again),
        state_(std::move(state)),
        carrier_(std::move(carrier)),
        memory_(std::move(memory)) {}

  ErrorTaker error_taker() const override;
  bool wait_in_host() override { return carrier_->wait_in_host(); }

 private:
  Failure begin() override;
  void abandon() override;
  bool done() const override { return carrier_->done(); }
  Failure outcome() const override { return carrier_->outcome(); }
  void describe_end(MPI_Status* status) const override { make_empty(status); }
  int lost(LostSources&) const override { return carrier_->lost(); }
  Failure lost_failure(int rank) const override;
  void let_go() override { carrier_->let_go(); }

  std::shared_ptr<CollectiveState> state_;
  std::unique_ptr<Carrier> carrier_;
  ScheduleMemory memory_;
  bool abandoned_ = false;
};

}  // namespace oriel::boundary
