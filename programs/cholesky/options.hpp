// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "bench/options.hpp"

namespace cholesky {

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 31;                 // of one factorization each
  std::int64_t edge = 32;                    // of a tile, in doubles
  std::int64_t ring = 64;                    // slots
  std::vector<std::int64_t> tiles_per_rank;  // on average, at least; a matrix for each

  Options(int argc, char** argv) {
    bench::take_options(argc, argv,
                        {{"--window", bench::memory(memory)},
                         {"--batches", bench::number(batches)},
                         {"--tile", bench::number(edge, {.most = 4096})},
                         {"--tiles-per-rank", bench::number(tiles_per_rank, {.most = 1 << 20})},
                         {"--ring", bench::number(ring, {.most = 1 << 20})}});
    if (tiles_per_rank.empty()) tiles_per_rank = {1, 16};
  }
};

}  // namespace cholesky
