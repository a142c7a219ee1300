// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/options.hpp"

namespace stencil {

enum class Scaling { weak, strong };

inline std::string_view name_of(Scaling scaling) {
  return scaling == Scaling::weak ? "weak" : "strong";
}

/// The columns of a domain: of each rank (weak scaling), or of all together (strong scaling).
struct Columns {
  Scaling scaling;
  int number;

  int of_all(int ranks) const { return scaling == Scaling::weak ? number * ranks : number; }
};

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 9;
  std::int64_t iterations = 2;  // of one batch
  std::int64_t limit_s = 10;    // after which no batch of a variant and domain is begun
  int rows = 1280;
  std::vector<Columns> columns;
  bench::Choice variants;

  Options(int argc, char** argv) {
    constexpr bench::Limits extent{.least = 2, .most = 1 << 16};
    std::vector<int> weak;
    std::vector<int> strong;
    bench::take_options(argc, argv,
                        {{"--window", bench::memory(memory)},
                         {"--batches", bench::number(batches)},
                         {"--iterations", bench::number(iterations)},
                         {"--limit-s", bench::number(limit_s)},
                         {"--rows", bench::number(rows, extent)},
                         {"--columns-per-rank", bench::number(weak, extent)},
                         {"--columns", bench::number(strong, extent)},
                         {"--variant", bench::name(variants)}});
    for (const int number : weak) columns.push_back({Scaling::weak, number});
    for (const int number : strong) columns.push_back({Scaling::strong, number});
    if (columns.empty()) columns = {{Scaling::weak, 1280}, {Scaling::strong, 12800}};
  }
};

}  // namespace stencil
