// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "bench/window.hpp"

namespace cholesky {

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 31;                 // of one factorization each
  std::int64_t edge = 32;                    // of a tile, in doubles
  std::int64_t ring = 64;                    // slots
  std::vector<std::int64_t> tiles_per_rank;  // on average, at least; a matrix for each

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--window" && bench::is_memory(value, memory)) continue;
      if (name == "--batches") {
        batches = bench::number(name, value);
      } else if (name == "--tile") {
        edge = bench::number(name, value, largest_edge);
      } else if (name == "--tiles-per-rank") {
        tiles_per_rank.push_back(bench::number(name, value, most_tiles));
      } else if (name == "--ring") {
        ring = bench::number(name, value, most_slots);
      } else {
        bench::fail("the option " + std::string(name) + " " + std::string(value) +
                    " is unknown; use --window allocated or created, --batches N, --tile EDGE, "
                    "--tiles-per-rank N (again for more matrices), --ring SLOTS.");
      }
    }
    if (tiles_per_rank.empty()) tiles_per_rank = {1, 16};
  }

 private:
  static constexpr std::int64_t largest_edge = 4096;
  static constexpr std::int64_t most_tiles = 1 << 20;
  static constexpr std::int64_t most_slots = 1 << 20;
};

}  // namespace cholesky
