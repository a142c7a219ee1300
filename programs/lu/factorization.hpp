// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "bench/clock.hpp"
#include "bench/job.hpp"
#include "bench/row.hpp"
#include "bench/window.hpp"
#include "call_clock.hpp"
#include "factor_check.hpp"
#include "layout.hpp"
#include "matrix.hpp"
#include "own_rows.hpp"

namespace lu {

/// Factorizations with the rows of U sent in one way. A batch is one of them. Each has a matrix of
/// its own, so that a row left over from the one before does not pass for its successor.
template <typename Way>
class Factorization final : public bench::Row {
 public:
  Factorization(const Layout& layout, const bench::Job& job, bench::Memory memory)
      : layout_(layout), own_(layout), way_(layout, memory, calls_), check_(layout, job) {}

  bool plays() const override { return true; }

  void prepare_batch() override {
    ++number_;
    own_.become(Matrix(layout_.order(), number_));
  }

  void play(std::int64_t) override {
    const std::int64_t begin = bench::now_ns();
    const double before_us = calls_.spent_us();
    expect(0);
    for (int row = 0; row < layout_.order(); ++row) {
      if (layout_.owns(row)) {
        way_.send(row, own_.upper(row));
        expect(row + 1);
        own_.eliminate(row, own_.upper(row));
        way_.close();
      } else {
        const double* const upper = way_.receive(row);
        expect(row + 1);
        own_.eliminate(row, upper);
      }
    }
    way_.finish();
    share_ = (calls_.spent_us() - before_us) / bench::us_of(bench::now_ns() - begin);
  }

  void finish_batch() override {
    MPI_Allreduce(MPI_IN_PLACE, &share_, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    shares_.push_back(share_ / layout_.ranks());
    check();
  }

  void check() override {
    check_.check(Matrix(layout_.order(), number_), own_,
                 [&](int row) { return way_.arrived(row); });
  }

  /// Of its time that a rank spends in MPI calls, the mean of all ranks; one for each batch.
  const std::vector<double>& shares() const { return shares_; }
  const FactorCheck& checked() const { return check_; }

 private:
  void expect(int row) {
    if (row < layout_.order() && !layout_.owns(row)) way_.expect(row);
  }

  const Layout& layout_;
  OwnRows own_;
  CallClock calls_;
  Way way_;
  FactorCheck check_;
  std::uint64_t number_ = 0;
  double share_ = 0;
  std::vector<double> shares_;
};

}  // namespace lu
