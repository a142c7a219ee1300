// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "bench/options.hpp"
#include "persistent/buffers.hpp"
#include "persistent/lengths.hpp"

namespace collectives {

struct Options {
  bench::Choice calls;
  bench::Choice variants;
  std::vector<std::size_t> sizes;  // bytes of a block
  persistent::Lengths lengths;

  Options(int argc, char** argv, int ranks) {
    bench::take_options(
        argc, argv,
        {{"--call", bench::name(calls)},
         {"--variant", bench::name(variants)},
         {"--bytes", bench::number(sizes, {.multiple = sizeof(persistent::Element)})},
         {"--batches", bench::number(lengths.batches)},
         {"--batch-us", bench::number(lengths.batch_us)},
         {"--limit-ms", bench::number(lengths.limit_ms)}});
    if (sizes.empty()) sizes = {8, 4 << 10, 256 << 10, 2 << 20};
    for (const std::size_t bytes : sizes) {
      if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max() / ranks)) {
        bench::fail("blocks of " + std::to_string(bytes) + " bytes for each of " +
                    std::to_string(ranks) +
                    " ranks are too long for MPI_Alltoallw, whose displacements are ints; ask for "
                    "less.");
      }
    }
  }
};

}  // namespace collectives
