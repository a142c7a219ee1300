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
#include "pattern.hpp"
#include "persistent/lengths.hpp"

namespace alltoallv {

struct Options {
  bench::Choice variants;
  std::vector<std::size_t> sizes;  // bytes from each rank to each rank
  std::string counts;              // a file; empty: uniform counts of `sizes`
  persistent::Lengths lengths;

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--variant") {
        variants.add(value);
      } else if (name == "--bytes") {
        sizes.push_back(size(bench::number(name, value)));
      } else if (name == "--counts") {
        counts = value;
      } else if (!lengths.take(name, value)) {
        bench::fail("the option " + std::string(name) +
                    " is unknown; use --variant NAME and --bytes N (again for more), --counts "
                    "FILE, " +
                    persistent::Lengths::options + ".");
      }
    }
    if (!counts.empty() && !sizes.empty()) {
      bench::fail("--counts and --bytes each say what is sent; leave one of them away.");
    }
    if (sizes.empty()) {
      for (std::size_t bytes = 8; bytes <= std::size_t{2} << 20; bytes *= 4) sizes.push_back(bytes);
    }
  }

 private:
  static std::size_t size(std::int64_t bytes) {
    if (bytes % sizeof(Element) == 0) return static_cast<std::size_t>(bytes);
    bench::fail("--bytes is a multiple of " + std::to_string(sizeof(Element)) + ", not " +
                std::to_string(bytes) + ".");
  }
};

}  // namespace alltoallv
