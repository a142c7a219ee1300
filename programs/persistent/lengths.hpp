// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/number.hpp"
#include "bench/stopwatch.hpp"

namespace persistent {

/// How long a variant is measured.
struct Lengths {
  static constexpr const char* options =
      "--batches N, --batch-us MICROSECONDS, --limit-ms MILLISECONDS";

  std::int64_t batches = 9;
  std::int64_t batch_us = 2000;  // how long one batch takes at least
  std::int64_t limit_ms = 60;    // no batch of a variant is begun after so long

  /// Whether this is one of its options.
  bool take(std::string_view name, std::string_view value) {
    if (name == "--batches") {
      batches = bench::number(name, value);
    } else if (name == "--batch-us") {
      batch_us = bench::number(name, value);
    } else if (name == "--limit-ms") {
      limit_ms = bench::number(name, value);
    } else {
      return false;
    }
    return true;
  }

  bench::Stopwatch stopwatch() const { return {batches, batch_us, bench::Whose::slowest}; }
  double limit_us() const { return 1e3 * static_cast<double>(limit_ms); }
};

}  // namespace persistent
