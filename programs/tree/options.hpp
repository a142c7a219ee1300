// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/options.hpp"

namespace tree {

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 9;
  std::int64_t batch_us = 10000;  // how long one batch of rounds takes at least
  int arity = 16;
  std::vector<std::size_t> sizes;  // bytes of a contribution
  bench::Choice variants;

  Options(int argc, char** argv) {
    bench::take_options(
        argc, argv,
        {{"--window", bench::memory(memory)},
         {"--batches", bench::number(batches)},
         {"--batch-us", bench::number(batch_us)},
         {"--arity", bench::number(arity)},
         {"--bytes", bench::number(sizes, {.most = 1 << 20, .multiple = sizeof(double)})},
         {"--variant", bench::name(variants)}});
    arity = std::min(arity, 1 << 20);  // more than there are ranks
    if (sizes.empty()) sizes = {8, 64, 512, 4 << 10};
  }
};

}  // namespace tree
