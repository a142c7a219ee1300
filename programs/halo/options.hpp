// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/options.hpp"
#include "cells.hpp"

namespace halo {

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 9;
  std::int64_t batch_us = 4000;    // how long one batch of steps takes at least
  std::vector<std::size_t> sizes;  // bytes of one message

  Options(int argc, char** argv) {
    bench::take_options(argc, argv,
                        {{"--window", bench::memory(memory)},
                         {"--batches", bench::number(batches)},
                         {"--batch-us", bench::number(batch_us)},
                         {"--bytes", bench::number(sizes, {.multiple = sizeof(Word)})}});
    if (sizes.empty()) sizes = {16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10};
  }
};

}  // namespace halo
