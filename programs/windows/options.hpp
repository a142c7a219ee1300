// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/choice.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"

namespace windows {

struct Options {
  bench::Choice windows;
  std::vector<std::size_t> sizes;  // bytes of a put
  std::int64_t batches = 9;
  std::int64_t batch_us = 4000;  // how long one batch of puts takes at least
  std::int64_t others = 100;     // windows that are alive while one is made

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--window") {
        windows.add(value);
      } else if (name == "--bytes") {
        sizes.push_back(static_cast<std::size_t>(bench::number(name, value)));
      } else if (name == "--batches") {
        batches = bench::number(name, value);
      } else if (name == "--batch-us") {
        batch_us = bench::number(name, value);
      } else if (name == "--others") {
        others = bench::number(name, value);
      } else {
        bench::fail("the option " + std::string(name) +
                    " is unknown; use --window NAME and --bytes N (again for more), --batches N, "
                    "--batch-us MICROSECONDS, --others N.");
      }
    }
    if (sizes.empty()) {
      for (std::size_t bytes = 1; bytes <= std::size_t{1} << 20; bytes *= 4) sizes.push_back(bytes);
    }
  }
};

}  // namespace windows
