// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace patterns {

class Scene;

inline constexpr std::size_t kibibyte = 1024;
inline constexpr std::size_t mebibyte = 1024 * kibibyte;

/// One put of a pattern.
struct Transfer {
  int origin;
  int target;
  std::size_t offset;  // in the target's window; what is under way together must be disjoint
};

/// One of the paper's microbenchmarks: who takes part, what is put, what is measured.
struct Pattern {
  std::string_view name;
  int ranks;
  int busy_ranks;  // that compute, or wait inside MPI, at the same time, on one node
  int late_rank;   // that works first, or while the others wait
  std::vector<std::size_t> sizes;
  std::vector<Transfer> transfers;
  std::vector<std::string_view> metrics;  // the last one is always how long the late rank worked
  const char* flag;                       // info key whose effect is shown; null: none
  bool locks;                             // epochs are lock epochs: the target reads under a lock
  void (*play)(Scene&);
};

}  // namespace patterns
