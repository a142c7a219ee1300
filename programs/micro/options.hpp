// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/choice.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "row_set.hpp"

namespace micro {

struct Options {
  RowSet set = RowSet::usual;
  std::int64_t batches = 9;
  std::int64_t batch_us = 4000;  // how long one batch of rounds takes at least
  bool crowded = false;          // the ranks share cores: these have no distance
  bench::Choice rows;
  bench::Choice windows;
  std::optional<std::string> pvar;  // a counter of MPI_T that is started
  std::vector<std::size_t> sizes;   // bytes; none: as the catalogue says

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--set" && is_row_set(value, set)) continue;
      if (name == "--batches") {
        batches = bench::number(name, value);
      } else if (name == "--batch-us") {
        batch_us = bench::number(name, value);
      } else if (name == "--bytes") {
        sizes.push_back(static_cast<std::size_t>(bench::number(name, value)));
      } else if (name == "--crowded" && (value == "no" || value == "yes")) {
        crowded = value == "yes";
      } else if (name == "--row") {
        rows.add(value);
      } else if (name == "--window") {
        windows.add(value);
      } else if (name == "--pvar") {
        pvar = value;
      } else {
        bench::fail("the option " + std::string(name) + " " + std::string(value) +
                    " is unknown; use --set usual, operations, sizes, vectors, dynamic, contended "
                    "or messages, --crowded no or yes, --batches N, --batch-us MICROSECONDS, --row "
                    "NAME, --window NAME and --bytes N (each again for more), --pvar COUNTER.");
      }
    }
  }

  std::vector<std::size_t> sizes_or(std::vector<std::size_t> usual) const {
    return sizes.empty() ? std::move(usual) : sizes;
  }
};

}  // namespace micro
