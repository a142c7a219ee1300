// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/choice.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "persistent/buffers.hpp"
#include "persistent/lengths.hpp"

namespace collectives {

struct Options {
  bench::Choice calls;
  bench::Choice variants;
  std::vector<std::size_t> sizes;  // bytes of a block
  persistent::Lengths lengths;

  Options(int argc, char** argv, int ranks) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--call") {
        calls.add(value);
      } else if (name == "--variant") {
        variants.add(value);
      } else if (name == "--bytes") {
        sizes.push_back(size(bench::number(name, value), ranks));
      } else if (!lengths.take(name, value)) {
        bench::fail(
            "the option " + std::string(name) +
            " is unknown; use --call NAME, --variant NAME and --bytes N (again for more), " +
            persistent::Lengths::options + ".");
      }
    }
    if (sizes.empty()) sizes = {8, 4 << 10, 256 << 10, 2 << 20};
  }

 private:
  static std::size_t size(std::int64_t bytes, int ranks) {
    const std::int64_t each = sizeof(persistent::Element);
    if (bytes % each != 0) {
      bench::fail("--bytes is a multiple of " + std::to_string(each) + ", not " +
                  std::to_string(bytes) + ".");
    }
    if (bytes > std::numeric_limits<int>::max() / ranks) {
      bench::fail("blocks of " + std::to_string(bytes) + " bytes for each of " +
                  std::to_string(ranks) +
                  " ranks are too long for MPI_Alltoallw, whose displacements are ints; ask for "
                  "less.");
    }
    return static_cast<std::size_t>(bytes);
  }
};

}  // namespace collectives
