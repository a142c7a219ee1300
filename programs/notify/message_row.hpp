// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/row.hpp"
#include "job.hpp"
#include "payload.hpp"

namespace notify {

/// Round trips of MPI_Send and MPI_Recv.
class MessageRow final : public bench::Row {
 public:
  MessageRow(const Job& job, std::size_t bytes)
      : job_(job),
        count_(static_cast<int>(bytes / sizeof(Word))),
        outgoing_(bytes / sizeof(Word)),
        incoming_(bytes / sizeof(Word)) {}

  bool plays() const override { return true; }

  void prepare_batch() override {
    fill(outgoing_, job_.rank, ++batch_);
    play(1);
  }

  void play(std::int64_t rounds) override {
    const std::int64_t end = rounds_ + rounds;
    for (; rounds_ < end; ++rounds_) {
      if (job_.rank == client) {
        send();
        receive();
      } else {
        receive();
        send();
      }
    }
  }

  void finish_batch() override { expect(incoming_, job_.partner, batch_, rounds_ - 1); }

  void check() override {}

 private:
  void send() {
    stamp(outgoing_, rounds_);
    MPI_Send(outgoing_.data(), count_, MPI_INT64_T, job_.partner, 0, MPI_COMM_WORLD);
  }
  void receive() {
    MPI_Recv(incoming_.data(), count_, MPI_INT64_T, job_.partner, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    expect_stamp(incoming_, rounds_);
  }

  Job job_;
  int count_;
  std::vector<Word> outgoing_;
  std::vector<Word> incoming_;
  std::int64_t rounds_ = 0;
  std::int64_t batch_ = 0;
};

}  // namespace notify
