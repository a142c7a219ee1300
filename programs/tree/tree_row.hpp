// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/clock.hpp"
#include "bench/job.hpp"
#include "bench/row.hpp"
#include "bench/samples.hpp"
#include "bench/window.hpp"
#include "shape.hpp"
#include "values.hpp"

namespace tree {

/// Rounds of one variant and size. Each is timed by itself, from the moment at which all ranks
/// begin until the root has the sums; of a batch counts the median.
template <typename Variant>
class TreeRow final : public bench::Row {
 public:
  TreeRow(const bench::Job& job, const Shape& shape, bench::Memory memory, std::size_t words)
      : job_(job), shape_(shape), values_(shape), sums_(words), variant_(shape, memory, words) {}

  bool plays() const override { return true; }

  void prepare_batch() override { times_us_.clear(); }

  void play(std::int64_t rounds) override {
    const std::int64_t end = round_ + rounds;
    for (; round_ < end; ++round_) {
      values_.contribute(sums_, round_);
      const double begin = job_.meet();
      variant_.reduce(sums_);
      times_us_.push_back(bench::now_us() - begin);
      if (shape_.root()) values_.expect(sums_, round_);
    }
  }

  double round_us(double, std::int64_t) const override { return bench::median(times_us_); }

  void check() override {}  // every round is checked as it ends

 private:
  const bench::Job& job_;
  const Shape& shape_;
  Values values_;
  std::vector<double> sums_;
  Variant variant_;
  std::int64_t round_ = 0;
  std::vector<double> times_us_;
};

}  // namespace tree
