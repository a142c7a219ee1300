// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/epochs.hpp"
#include "bench/options.hpp"

namespace patterns {

using bench::Mode;

struct Options {
  std::string pattern;
  Mode mode = Mode::blocking;
  int iterations = 100;
  double work_us = 1000;
  std::vector<std::size_t> sizes;  // none: the pattern's own

  Options(int argc, char** argv) {
    bench::take_options(argc, argv,
                        {{"--pattern", bench::name(pattern)},
                         {"--mode", bench::one_of(mode, {{"blocking", Mode::blocking},
                                                         {"nonblocking", Mode::nonblocking}})},
                         {"--iterations", bench::number(iterations)},
                         {"--work", bench::number(work_us)},
                         {"--size", bench::number(sizes)}});
  }
};

}  // namespace patterns
