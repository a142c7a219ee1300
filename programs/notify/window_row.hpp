// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "bench/row.hpp"
#include "channel.hpp"
#include "job.hpp"
#include "payload.hpp"

namespace notify {

/// Round trips of one kind of transfer in one kind of synchronization: first the client acts on the
/// server, then the server on the client. Each knows from the synchronization that the other one
/// has done so.
template <typename Synchronization, typename Transfer>
class WindowRow final : public bench::Row {
 public:
  WindowRow(const Job& job, std::size_t bytes)
      : job_(job), channel_(job, bytes), transfer_(channel_) {
    MPI_Barrier(MPI_COMM_WORLD);
    synchronization_.emplace(channel_);
  }

  bool plays() const override { return true; }

  /// With a round that is not timed: after it the new contents are where later rounds find them.
  void prepare_batch() override {
    transfer_.prepare_batch(++batch_);
    MPI_Barrier(MPI_COMM_WORLD);  // the other one may still look at the last batch
    play(1);
  }

  void play(std::int64_t rounds) override {
    const std::int64_t end = rounds_ + rounds;
    for (; rounds_ < end; ++rounds_) {
      if (job_.rank == client) {
        act();
        wait();
      } else {
        wait();
        act();
      }
    }
  }

  void finish_batch() override { expect(transfer_.incoming(), job_.partner, batch_, rounds_ - 1); }

  void finish() override { synchronization_->finish(); }

  void check() override {}

 private:
  void act() {
    synchronization_->reclaim();
    transfer_.before_act(rounds_);
    synchronization_->act(transfer_);
    transfer_.after_act(rounds_);
  }
  void wait() {
    synchronization_->wait(transfer_, rounds_);
    transfer_.after_wait(rounds_);
  }

  Job job_;
  Channel channel_;
  Transfer transfer_;
  std::optional<Synchronization> synchronization_;
  std::int64_t rounds_ = 0;
  std::int64_t batch_ = 0;
};

}  // namespace notify
