// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "bench/failure.hpp"
#include "bench/notify_api.hpp"
#include "channel.hpp"

namespace notify {

/// When the origin completes its operation: at once, as in the paper's Listing 1, or no earlier
/// than it needs its buffer again.
enum class Completion { at_once, for_reuse };

/// Notified access as in the paper's Listing 1.
template <Completion completion>
class Notification {
 public:
  explicit Notification(const Channel& channel) : partner_(channel.partner()), win_(channel.win()) {
    api_.init(win_, partner_, tag, 1, &request_);
  }

  void reclaim() {
    if (completion == Completion::at_once || !pending_) return;
    MPI_Win_flush_local(partner_, win_);
    pending_ = false;
  }
  template <typename Transfer>
  void act(Transfer& transfer) {
    transfer.issue(api_, tag);
    if (completion == Completion::at_once) {
      MPI_Win_flush(partner_, win_);
    } else {
      pending_ = true;
    }
  }
  template <typename Transfer>
  void wait(const Transfer&, std::int64_t) {
    MPI_Start(&request_);
    MPI_Wait(&request_, &status_);
  }
  void finish() {
    reclaim();
    MPI_Request_free(&request_);
    if (status_.MPI_SOURCE == partner_ && status_.MPI_TAG == tag) return;
    bench::fail("the last notification came from rank " + std::to_string(status_.MPI_SOURCE) +
                " with tag " + std::to_string(status_.MPI_TAG) + " and should come from rank " +
                std::to_string(partner_) + " with tag " + std::to_string(tag) + ".");
  }

 private:
  static constexpr int tag = 99;

  bench::NotifyApi api_;
  int partner_;
  MPI_Win win_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Status status_{};
  bool pending_ = false;
};

}  // namespace notify
