// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/failure.hpp"
#include "bench/window.hpp"
#include "exposures/kinds.hpp"

namespace progress {

enum class Target { idle, busy };

struct Outcome {
  std::int64_t operations;  // fewer than asked for where the time limit came first
  double seconds;
};

/// How long a target is busy in MPI before it leaves it, and how long it then computes.
inline constexpr double presence_s = 0.01;
inline constexpr double absence_s = 0.02;

/// Rank 0 puts one word after the other to the last rank and flushes each.
class Puts {
 public:
  Puts(const exposures::Kind& kind, int rank, int target)
      : rank_(rank), target_(target), exposure_(kind.make(sizeof(std::int64_t), target)) {
    exposure_->open();
    displacement_ = exposure_->start(target);
  }
  ~Puts() { exposure_->close(); }
  Puts(const Puts&) = delete;
  Puts& operator=(const Puts&) = delete;

  /// An idle target waits in MPI_Barrier from the beginning; a busy one computes first. The outcome
  /// is rank 0's. Collective.
  Outcome play(Target target, std::int64_t operations, double busy_s, double limit_s) {
    Outcome outcome{0, 0};
    if (rank_ == 0) {
      MPI_Win_lock_all(0, exposure_->locked());
      put_and_flush();  // some hosts lock as late as this
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
      // While the target is still in the barrier it serves what comes, and a stream of operations
      // would keep it there.
      compute(head_start_s);
      outcome = issue(operations, limit_s);
    }
    if (rank_ == target_ && target == Target::busy) compute(head_start_s + busy_s);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) MPI_Win_unlock_all(exposure_->locked());
    check();
    MPI_Barrier(MPI_COMM_WORLD);  // the check takes the lock that the next turn takes
    return outcome;
  }

  /// The time of one put and flush to a target that has just left MPI to compute, in seconds: who
  /// serves it then has to find out first that the target does not. The outcome is rank 0's.
  /// Collective.
  double first() {
    if (rank_ == 0) {
      MPI_Win_lock_all(0, exposure_->locked());
      const double begin = MPI_Wtime();
      while (MPI_Wtime() - begin < presence_s) put_and_flush();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = 0;
    if (rank_ == 0) {
      compute(absence_s / 100);  // so that the target has left the barrier
      const double begin = MPI_Wtime();
      put_and_flush();
      seconds = MPI_Wtime() - begin;
    }
    if (rank_ == target_) compute(absence_s);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) MPI_Win_unlock_all(exposure_->locked());
    MPI_Barrier(MPI_COMM_WORLD);
    return seconds;
  }

 private:
  static constexpr double head_start_s = 0.05;
  // The clock is looked at after so many operations: it may take longer than one of them.
  static constexpr std::int64_t between_looks = 100;

  void put_and_flush() {
    ++word_;
    MPI_Put(&word_, 1, MPI_INT64_T, target_, displacement_, 1, MPI_INT64_T, exposure_->window());
    MPI_Win_flush(target_, exposure_->window());
  }

  Outcome issue(std::int64_t operations, double limit_s) {
    std::int64_t done = 0;
    double seconds = 0;
    const double begin = MPI_Wtime();
    while (done < operations && seconds < limit_s) {
      const std::int64_t end = std::min(operations, done + between_looks);
      for (; done < end; ++done) put_and_flush();
      seconds = MPI_Wtime() - begin;
    }
    return {done, seconds};
  }

  /// Outside MPI for this long, and never asleep.
  static void compute(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    volatile std::uint64_t state = 1;
    while (Clock::now() < end) {
      for (int round = 0; round < 1000; ++round) state = state * 6364136223846793005u + 1;
    }
  }

  void check() const {
    std::int64_t expected = word_;
    MPI_Bcast(&expected, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (rank_ != target_) return;
    const bench::OwnPart mine(exposure_->locked(), rank_);
    const std::int64_t found = *reinterpret_cast<volatile std::int64_t*>(exposure_->base());
    if (found == expected) return;
    bench::fail("after " + std::to_string(expected) + " puts the word at the target is " +
                std::to_string(found) + ".");
  }

  int rank_;
  int target_;
  std::unique_ptr<exposures::Exposure> exposure_;
  MPI_Aint displacement_ = 0;
  std::int64_t word_ = 0;  // how many were put so far
};

}  // namespace progress
