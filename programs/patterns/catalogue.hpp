// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "inefficiency.hpp"
#include "pattern.hpp"
#include "reorder.hpp"

namespace patterns {

inline std::vector<std::size_t> powers_of_four_to_1mb() {
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = 4; bytes <= mebibyte; bytes *= 4) sizes.push_back(bytes);
  return sizes;
}

inline std::vector<Pattern> catalogue() {
  const auto sweep = powers_of_four_to_1mb();
  return {
      {"late_post",
       3,
       3,
       0,
       {mebibyte},
       {{2, 0, 0}},
       {"access_epoch", "subsequent", "cumulative", "work"},
       nullptr,
       false,
       late_post},
      {"late_complete",
       2,
       2,
       0,
       sweep,
       {{0, 1, 0}},
       {"target_epoch", "origin_epoch", "work"},
       nullptr,
       false,
       late_complete},
      {"early_fence",
       2,
       2,
       1,
       {256 * kibibyte, mebibyte},
       {{0, 1, 0}},
       {"cumulative", "transfer", "work"},
       nullptr,
       false,
       early_fence},
      {"wait_at_fence",
       2,
       2,
       0,
       sweep,
       {{0, 1, 0}},
       {"target_epoch", "origin_epoch", "work"},
       nullptr,
       false,
       wait_at_fence},
      {"late_unlock",
       3,
       2,
       0,
       {mebibyte},
       {{0, 2, 0}, {1, 2, mebibyte}},
       {"first_lock", "second_lock", "work"},
       nullptr,
       true,
       late_unlock},
      {"aaar_gats",
       3,
       3,
       1,
       {mebibyte},
       {{0, 1, 0}, {0, 2, 0}},
       {"first_target", "second_target", "origin", "work"},
       ORIEL_ACCESS_AFTER_ACCESS_REORDER,
       false,
       aaar_gats},
      {"aaar_lock",
       4,
       2,
       0,
       {mebibyte},
       {{0, 2, 0}, {1, 2, mebibyte}, {1, 3, 0}},
       {"first_origin", "second_origin", "transfer", "work"},
       ORIEL_ACCESS_AFTER_ACCESS_REORDER,
       true,
       aaar_lock},
      {"aaer",
       3,
       3,
       0,
       {mebibyte},
       {{0, 2, 0}, {2, 1, 0}},
       {"late_origin", "target", "both", "work"},
       ORIEL_ACCESS_AFTER_EXPOSURE_REORDER,
       false,
       aaer},
      {"eaer",
       3,
       3,
       0,
       {mebibyte},
       {{0, 2, 0}, {1, 2, mebibyte}},
       {"late_origin", "origin", "both", "work"},
       ORIEL_EXPOSURE_AFTER_EXPOSURE_REORDER,
       false,
       eaer},
      {"eaar",
       3,
       3,
       0,
       {mebibyte},
       {{2, 0, 0}, {1, 2, 0}},
       {"late_target", "origin", "both", "work"},
       ORIEL_EXPOSURE_AFTER_ACCESS_REORDER,
       false,
       eaar},
  };
}

}  // namespace patterns
