// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "bench/options.hpp"

namespace lu {

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 3;  // of one factorization each
  std::vector<int> orders;

  Options(int argc, char** argv) {
    bench::take_options(argc, argv,
                        {{"--window", bench::memory(memory)},
                         {"--batches", bench::number(batches)},
                         {"--order", bench::number(orders, {.most = largest_order})}});
    if (orders.empty()) orders = {256, 512};
  }

 private:
  static constexpr std::int64_t largest_order = 32768;  // a call takes up to 2^31 elements
};

}  // namespace lu
