// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "clock.hpp"
#include "row.hpp"

namespace bench {

/// Which time is a batch's: rank 0's, the slowest rank's, or that from the first rank's start to
/// the last rank's end. The third needs ranks that share a clock; it alone counts the time in which
/// ranks of one core wait for each other.
enum class Whose { rank_0, slowest, all };

/// Plays a row in batches of equal length and times each.
class Stopwatch {
 public:
  Stopwatch(std::int64_t batches, std::int64_t batch_us, Whose whose)
      : batches_(batches), batch_us_(static_cast<double>(batch_us)), whose_(whose) {}

  /// Microseconds per round, one sample per batch; meaningful on rank 0.
  std::vector<double> samples(Row& row) { return samples(row, no_limit_us); }

  /// The same; no batch is begun when they have taken `limit_us`.
  std::vector<double> samples(Row& row, double limit_us) {
    return play_batches(row, calibrate(row), limit_us);
  }

  /// The same in batches of so many rounds, after one round that warms everything up. No batch is
  /// begun when they have taken `limit_us`: where ranks share cores, a round may take seconds.
  std::vector<double> samples(Row& row, std::int64_t rounds, double limit_us) {
    return play_batches(row, rounds, limit_us - play(row, 1));
  }

  std::int64_t rounds_per_batch() const { return rounds_; }

 private:
  static constexpr std::int64_t most_rounds = std::int64_t{1} << 30;
  static constexpr int trials = 3;
  static constexpr double no_limit_us = std::numeric_limits<double>::infinity();

  std::vector<double> play_batches(Row& row, std::int64_t rounds, double left_us) {
    rounds_ = rounds;
    std::vector<double> result;
    do {
      const double took = play(row, rounds);
      result.push_back(row.round_us(took, rounds));
      left_us -= took;
    } while (std::ssize(result) < batches_ && agree(left_us > 0));
    return result;
  }

  /// Longer and longer batches until one takes long enough; they warm everything up as well. A
  /// batch that seems long enough is played again: a rank that lost its core for a while would
  /// otherwise end the search at a length that is far too short.
  std::int64_t calibrate(Row& row) {
    for (std::int64_t rounds = 1;;) {
      double took = play(row, rounds);
      for (int trial = 1; trial < trials && agree(took >= batch_us_); ++trial) {
        took = std::min(took, play(row, rounds));
      }
      if (!agree(took < batch_us_ && rounds < most_rounds)) return rounds;
      const double factor = std::clamp(1.2 * batch_us_ / std::max(took, 1e-3), 2.0, 10.0);
      rounds = agree(
          std::min(most_rounds, static_cast<std::int64_t>(static_cast<double>(rounds) * factor)));
    }
  }

  /// What rank 0 thinks, on all ranks.
  static std::int64_t agree(std::int64_t value) {
    MPI_Bcast(&value, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return value;
  }

  double play(Row& row, std::int64_t rounds) const {
    row.prepare_batch();
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now_us();
    if (row.plays()) row.play(rounds);
    double end = now_us();
    MPI_Barrier(MPI_COMM_WORLD);
    row.finish_batch();
    if (whose_ == Whose::all) {
      MPI_Allreduce(MPI_IN_PLACE, &begin, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
      MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    double took = end - begin;
    if (whose_ == Whose::slowest) {
      MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    return took;
  }

  std::int64_t batches_;
  double batch_us_;
  Whose whose_;
  std::int64_t rounds_ = 0;
};

}  // namespace bench
