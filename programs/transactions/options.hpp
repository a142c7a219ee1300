// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "bench/options.hpp"

namespace transactions {

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 9;
  std::int64_t batch_us = 20'000;     // at least
  std::int64_t limit_s = 5;           // of a variant; no batch begins later
  std::int64_t words = 1024;          // of each rank, in the window
  std::vector<std::int64_t> compute;  // microseconds behind each transaction, besides none
  bench::Choice variants;

  Options(int argc, char** argv) {
    bench::take_options(argc, argv,
                        {{"--window", bench::memory(memory)},
                         {"--batches", bench::number(batches)},
                         {"--batch-us", bench::number(batch_us)},
                         {"--limit-s", bench::number(limit_s)},
                         {"--words", bench::number(words)},
                         {"--compute-us", bench::number(compute)},
                         {"--variant", bench::name(variants)}});
  }
};

}  // namespace transactions
