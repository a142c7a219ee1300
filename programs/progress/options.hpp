// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/options.hpp"
#include "exposures/kinds.hpp"

namespace progress {

struct Options {
  std::vector<exposures::Kind> windows;
  std::int64_t operations = 100'000;
  std::int64_t busy_ms = 3000;  // how long the target computes
  std::int64_t limit_s = 30;    // after which the origin gives up the rest of its operations

  Options(int argc, char** argv) {
    std::vector<std::pair<std::string_view, exposures::Kind>> kinds;
    for (const exposures::Kind& kind : exposures::kinds()) kinds.emplace_back(kind.name, kind);
    bench::take_options(argc, argv,
                        {{"--window", bench::one_of(windows, kinds)},
                         {"--operations", bench::number(operations)},
                         {"--busy-ms", bench::number(busy_ms)},
                         {"--limit-s", bench::number(limit_s)}});
    if (windows.empty()) windows = {kinds[0].second, kinds[1].second};  // allocated and created
  }
};

}  // namespace progress
