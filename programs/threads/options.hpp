// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"

namespace threads {

struct Options {
  int most = 32;                   // threads
  std::vector<std::size_t> sizes;  // bytes of a put
  std::int64_t samples = 3;
  std::int64_t turn_ms = 10;  // of a sample, for each of its threads: they may share one core

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--threads") {
        most = static_cast<int>(std::min(bench::number(name, value), most_possible));
      } else if (name == "--bytes") {
        sizes.push_back(static_cast<std::size_t>(bench::number(name, value)));
      } else if (name == "--samples") {
        samples = bench::number(name, value);
      } else if (name == "--turn-ms") {
        turn_ms = bench::number(name, value);
      } else {
        bench::fail("the option " + std::string(name) +
                    " is unknown; use --threads N, --bytes N (again for more), --samples N, "
                    "--turn-ms MILLISECONDS.");
      }
    }
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

 private:
  static constexpr std::int64_t most_possible = 1024;
};

}  // namespace threads
