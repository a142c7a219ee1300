// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace bench {

/// One row of the table, as one rank plays it. Rounds are played in batches of any length; `check`
/// ends the job unless the data is what all rounds together must have left.
class Row {
 public:
  virtual ~Row() = default;

  /// Whether this rank plays rounds. One that does not waits in MPI_Barrier meanwhile, where the
  /// host makes the progress that its own one-sided communication may need.
  virtual bool plays() const = 0;
  virtual void prepare_batch() {}
  virtual void play(std::int64_t rounds) = 0;
  /// Every rank is through with the batch when this is called.
  virtual void finish_batch() {}
  virtual void finish() {}
  /// What a round of the last batch took; its share of the batch, unless the row times each.
  virtual double round_us(double batch_us, std::int64_t rounds) const {
    return batch_us / static_cast<double>(rounds);
  }
  virtual void check() = 0;
};

}  // namespace bench
