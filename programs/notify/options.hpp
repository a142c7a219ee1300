// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/options.hpp"
#include "payload.hpp"

namespace notify {

struct Options {
  std::int64_t batches = 7;
  std::int64_t batch_us = 3000;   // how long one batch of round trips takes at least
  std::int64_t most = 1'000'000;  // notifications that wait, at most
  bench::Choice measures;
  bench::Choice rows;               // of the round trips
  std::vector<std::size_t> sizes;   // bytes
  std::optional<std::string> pvar;  // a counter of MPI_T that is started

  Options(int argc, char** argv) {
    bench::take_options(argc, argv,
                        {{"--measure", bench::one_of(measures, {"put", "get", "overlap", "epochs",
                                                                "calls", "matching", "misses"})},
                         {"--batches", bench::number(batches)},
                         {"--batch-us", bench::number(batch_us)},
                         {"--most", bench::number(most)},
                         {"--bytes", bench::number(sizes, {.multiple = sizeof(Word)})},
                         {"--row", bench::name(rows)},
                         {"--pvar", bench::name(pvar)}});
    if (sizes.empty()) {
      sizes = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 4 << 20};
    }
  }
};

}  // namespace notify
