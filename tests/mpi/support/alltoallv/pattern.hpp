// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace alltoallv {

/// How many units each rank sends to each, [from][to]: the same matrix on all ranks.
using Units = std::vector<std::vector<int>>;

inline Units units(int ranks, const std::function<int(int from, int to)>& of) {
  Units made;
  for (int from = 0; from < ranks; ++from) {
    made.emplace_back();
    for (int to = 0; to < ranks; ++to) made.back().push_back(of(from, to));
  }
  return made;
}

/// Who sends so many gets as many: what MPI_IN_PLACE asks for.
inline Units symmetric(Units matrix) {
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) matrix[i][j] = matrix[j][i];
  }
  return matrix;
}

enum class Pattern { all, holes, idle_ranks, one_pair, none, long_and_short, edges };

inline constexpr std::array patterns = {Pattern::all,      Pattern::holes, Pattern::idle_ranks,
                                        Pattern::one_pair, Pattern::none,  Pattern::long_and_short,
                                        Pattern::edges};

/// Units of so many bytes in one of these patterns.
inline Units units(Pattern pattern, int ranks, int bytes) {
  const int last = ranks - 1;
  const auto of_bytes = [bytes](int wanted) { return std::max(1, wanted / bytes); };
  switch (pattern) {
    case Pattern::all:
      return units(ranks, [](int from, int to) { return 1 + (3 * from + 5 * to) % 7; });
    case Pattern::holes:
      return units(ranks,
                   [](int from, int to) { return (from + 2 * to) % 3 == 0 ? 0 : 2 + from + to; });
    case Pattern::idle_ranks:  // one sends nothing, another one receives nothing
      return units(ranks, [last](int from, int to) { return from == 0 || to == last ? 0 : 3; });
    case Pattern::one_pair:
      return units(ranks, [last](int from, int to) { return from == 0 && to == last ? 5 : 0; });
    case Pattern::none:
      return units(ranks, [](int, int) { return 0; });
    case Pattern::long_and_short:
      return units(
          ranks, [&](int from, int to) { return of_bytes(from == 0 && to == last ? 1 << 20 : 8); });
    case Pattern::edges: {  // of what travels with a flag, of a line, a page, a packet
      constexpr std::array sizes = {55, 56, 57, 63, 64, 65, 4095, 4096, 4097, 65535, 65536, 65537};
      return units(ranks, [&](int from, int to) {
        return of_bytes(sizes[static_cast<std::size_t>(from * ranks + to) % sizes.size()]);
      });
    }
  }
  return {};
}

}  // namespace alltoallv
