// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "bench/options.hpp"
#include "pattern.hpp"
#include "persistent/lengths.hpp"

namespace alltoallv {

struct Options {
  bench::Choice variants;
  std::vector<std::size_t> sizes;  // bytes from each rank to each rank
  std::string counts;              // a file; empty: uniform counts of `sizes`
  persistent::Lengths lengths;

  Options(int argc, char** argv) {
    bench::take_options(argc, argv,
                        {{"--variant", bench::name(variants)},
                         {"--bytes", bench::number(sizes, {.multiple = sizeof(Element)})},
                         {"--counts", bench::name(counts)},
                         {"--batches", bench::number(lengths.batches)},
                         {"--batch-us", bench::number(lengths.batch_us)},
                         {"--limit-ms", bench::number(lengths.limit_ms)}});
    if (!counts.empty() && !sizes.empty()) {
      bench::fail("--counts and --bytes each say what is sent; leave one of them away.");
    }
    if (sizes.empty()) {
      for (std::size_t bytes = 8; bytes <= std::size_t{2} << 20; bytes *= 4) sizes.push_back(bytes);
    }
  }
};

}  // namespace alltoallv
