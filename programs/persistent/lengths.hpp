// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "bench/stopwatch.hpp"

namespace persistent {

/// How long a variant is measured.
struct Lengths {
  std::int64_t batches = 9;
  std::int64_t batch_us = 2000;  // how long one batch takes at least
  std::int64_t limit_ms = 60;    // no batch of a variant is begun after so long

  bench::Stopwatch stopwatch() const { return {batches, batch_us, bench::Whose::slowest}; }
  double limit_us() const { return 1e3 * static_cast<double>(limit_ms); }
};

}  // namespace persistent
