// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "bench/flag.hpp"
#include "bench/window.hpp"
#include "domain.hpp"
#include "slots.hpp"

namespace stencil {

/// By a flag behind every value, which the right rank polls. It is the number of the iteration,
/// from 1.
class Flags {
 public:
  Flags(const Domain& domain, bench::Memory memory)
      : domain_(domain), slots_(domain, memory), flag_(slots_.window()) {}

  void begin(std::int64_t iteration) { number_ = iteration + 1; }
  double receive(int row) {
    flag_.wait(slots_[row].flag, number_);
    return slots_[row].value;
  }
  void send(int row, const double* value) {
    slots_.put(value, domain_.right(), row);
    flag_.set(domain_.right(), Slots::of_flag(row), number_);
  }
  void end() {}

 private:
  const Domain& domain_;
  Slots slots_;
  bench::Flag flag_;
  std::int64_t number_ = 0;
};

}  // namespace stencil
