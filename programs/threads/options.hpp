// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/options.hpp"

namespace threads {

struct Options {
  int most = 32;                   // threads
  std::vector<std::size_t> sizes;  // bytes of a put
  std::int64_t samples = 3;
  std::int64_t turn_ms = 10;  // of a sample, for each of its threads: they may share one core

  Options(int argc, char** argv) {
    bench::take_options(argc, argv,
                        {{"--threads", bench::number(most)},
                         {"--bytes", bench::number(sizes)},
                         {"--samples", bench::number(samples)},
                         {"--turn-ms", bench::number(turn_ms)}});
    most = std::min(most, 1024);
    if (sizes.empty()) {
      for (std::size_t bytes = 1; bytes <= std::size_t{256} << 10; bytes *= 8) {
        sizes.push_back(bytes);
      }
    }
  }

  /// 1, 2, 4 and so on, and the most.
  std::vector<int> counts() const {
    std::vector<int> result;
    for (int count = 1; count < most; count *= 2) result.push_back(count);
    result.push_back(most);
    return result;
  }

  /// One, and the most.
  std::vector<int> extremes() const {
    return most == 1 ? std::vector<int>{1} : std::vector<int>{1, most};
  }
};

}  // namespace threads
