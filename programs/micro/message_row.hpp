// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "bench/row.hpp"

namespace micro {

/// Ping-pong of MPI_Send and MPI_Recv in a program without windows. A round is there and back.
class MessageRow final : public bench::Row {
 public:
  MessageRow(std::size_t bytes, int rank) : rank_(rank), words_(bytes / sizeof(std::int64_t)) {}

  bool plays() const override { return true; }

  void play(std::int64_t rounds) override {
    const std::int64_t end = rounds_ + rounds;
    for (; rounds_ < end; ++rounds_) {
      if (rank_ % 2 == 0) {
        words_.front() = rounds_;
        words_.back() = rounds_;
        send();
        receive();
      } else {
        receive();
        send();
      }
    }
  }

  void check() override {
    if (words_.front() == rounds_ - 1 && words_.back() == rounds_ - 1) return;
    bench::fail("the last of " + std::to_string(rounds_) + " messages came with number " +
                std::to_string(words_.front()) + " and should carry " +
                std::to_string(rounds_ - 1) + ".");
  }

 private:
  void send() {
    MPI_Send(words_.data(), static_cast<int>(words_.size()), MPI_INT64_T, rank_ ^ 1, 0,
             MPI_COMM_WORLD);
  }
  void receive() {
    MPI_Recv(words_.data(), static_cast<int>(words_.size()), MPI_INT64_T, rank_ ^ 1, 0,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  int rank_;
  std::vector<std::int64_t> words_;
  std::int64_t rounds_ = 0;
};

}  // namespace micro
