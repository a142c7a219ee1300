// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "boundary/collectives/carrier.hpp"
#include "boundary/collectives/collective_state.hpp"
#include "boundary/requests/persistent_requests.hpp"

namespace oriel::boundary {

/// The request of a persistent collective that a plan of ours carries out.
class CollectiveRequest final : public PersistentRequest {
 public:
  /// What its schedule uses besides the program's buffers.
  struct Memory {
    std::unique_ptr<std::byte[]> scratch;
    std::unique_ptr<std::byte[]> packed;  // vectors without the gaps of their datatype
  };

  CollectiveRequest(std::shared_ptr<CollectiveState> state, std::unique_ptr<Carrier> carrier,
                    Memory memory)
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
  Memory memory_;
  bool abandoned_ = false;
};

}  // namespace oriel::boundary
