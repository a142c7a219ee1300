// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "persistent/ranks.hpp"

namespace collectives {

/// What the ranks bring to a sum, and the sum where this rank gets it. Each rank brings what the
/// element is worth (its place, the batch) times a weight of its own: so a term that is missing,
/// comes twice, is misplaced or left from an earlier batch is found. All of it are whole numbers
/// that doubles hold, on up to 2048 ranks, so that the order of the additions does not show.
class Terms {
 public:
  Terms(const persistent::Ranks& ranks, int count, bool gets_sum)
      : brought(static_cast<std::size_t>(count)),
        sum(gets_sum ? brought.size() : 0),
        rank_(ranks.rank()) {
    for (int rank = 0; rank < ranks.size(); ++rank) all_weights_ += weight(rank);
  }

  /// Other terms, and no sum.
  void renew() {
    batch_ = batch_ % most_batches + 1;
    last_ = false;
    for (std::size_t index = 0; index < brought.size(); ++index) {
      brought[index] = worth(index) * weight(rank_);
    }
    std::fill(sum.begin(), sum.end(), nothing);
  }

  /// Another last term, in the last round of the batch.
  void renew_last() {
    last_ = true;
    brought.back() = worth(brought.size() - 1) * weight(rank_);
  }

  /// Ends the job unless this rank has got the sum by this variant.
  void check(const std::string& variant) const {
    for (std::size_t index = 0; index < sum.size(); ++index) {
      const double expected = worth(index) * all_weights_;
      if (sum[index] == expected) continue;
      bench::fail("after a reduction (" + variant + ") element " + std::to_string(index) + " is " +
                  std::to_string(sum[index]) + " on rank " + std::to_string(rank_) +
                  ", and should be " + std::to_string(expected) + ".");
    }
  }

  std::vector<double> brought;
  std::vector<double> sum;

 private:
  static constexpr double nothing = -1;
  static constexpr std::int64_t most_batches = 127;

  static double weight(int rank) { return rank % 16 + 1; }
  double worth(std::size_t index) const {
    const std::int64_t last = last_ && index + 1 == brought.size() ? 1 : 0;
    return static_cast<double>(batch_ << 31 | last << 30 | static_cast<std::int64_t>(index));
  }

  int rank_;
  double all_weights_ = 0;
  std::int64_t batch_ = 0;
  bool last_ = false;  // round of the batch
};

}  // namespace collectives
