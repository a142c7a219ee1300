// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "bench/clock.hpp"

namespace lu {

/// The time that this rank spends in MPI calls.
class CallClock {
 public:
  template <typename Calls>
  void time(Calls&& calls) {
    const std::int64_t begin = bench::now_ns();
    calls();
    spent_ns_ += bench::now_ns() - begin;
  }

  double spent_us() const { return bench::us_of(spent_ns_); }

 private:
  std::int64_t spent_ns_ = 0;
};

}  // namespace lu
