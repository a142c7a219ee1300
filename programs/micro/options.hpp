// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/options.hpp"
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
    bench::take_options(argc, argv,
                        {{"--set", bench::one_of(set, {row_sets.begin(), row_sets.end()})},
                         {"--batches", bench::number(batches)},
                         {"--batch-us", bench::number(batch_us)},
                         {"--bytes", bench::number(sizes)},
                         {"--crowded", bench::one_of(crowded, {{"no", false}, {"yes", true}})},
                         {"--row", bench::name(rows)},
                         {"--window", bench::name(windows)},
                         {"--pvar", bench::name(pvar)}});
  }

  std::vector<std::size_t> sizes_or(std::vector<std::size_t> usual) const {
    return sizes.empty() ? std::move(usual) : sizes;
  }
};

}  // namespace micro
