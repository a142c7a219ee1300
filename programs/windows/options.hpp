// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/options.hpp"

namespace windows {

struct Options {
  bench::Choice windows;
  std::vector<std::size_t> sizes;  // bytes of a put
  std::int64_t batches = 9;
  std::int64_t batch_us = 4000;  // how long one batch of puts takes at least
  std::int64_t others = 100;     // windows that are alive while one is made

  Options(int argc, char** argv) {
    bench::take_options(argc, argv,
                        {{"--window", bench::name(windows)},
                         {"--bytes", bench::number(sizes)},
                         {"--batches", bench::number(batches)},
                         {"--batch-us", bench::number(batch_us)},
                         {"--others", bench::number(others)}});
    if (sizes.empty()) {
      for (std::size_t bytes = 1; bytes <= std::size_t{1} << 20; bytes *= 4) sizes.push_back(bytes);
    }
  }
};

}  // namespace windows
