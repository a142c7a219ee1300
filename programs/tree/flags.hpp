// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/flag.hpp"
#include "bench/window.hpp"
#include "shape.hpp"
#include "slots.hpp"
#include "values.hpp"

namespace tree {

/// By a flag behind every child's values, which the parent polls. It is the number of the round,
/// from 1.
class Flags {
 public:
  Flags(const Shape& shape, bench::Memory memory, std::size_t words)
      : shape_(shape), slots_(shape, memory, words), flag_(slots_.window()) {}

  void reduce(std::span<double> sums) {
    ++number_;
    for (std::size_t place = 0; place < shape_.children().size(); ++place) {
      flag_.wait(slots_.flag(place), number_);
      add(sums, slots_.values(place));
    }
    if (!shape_.root()) {
      slots_.put(sums);
      flag_.set(shape_.parent(), slots_.flag_at_parent(), number_);
    }
  }

 private:
  const Shape& shape_;
  Slots slots_;
  bench::Flag flag_;
  std::int64_t number_ = 0;
};

}  // namespace tree
