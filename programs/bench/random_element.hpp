// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace bench {

/// SplitMix64.
inline std::uint64_t mix(std::uint64_t word) {
  word += 0x9e3779b97f4a7c15;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

/// From -0.5 to 0.5: a function of an element's place and of its matrix's number, so that each rank
/// makes its own part of a matrix.
inline double random_element(std::uint64_t matrix, std::uint64_t place) {
  constexpr std::uint64_t seed = 20150525;
  const std::uint64_t bits = mix(mix(seed + matrix) + place);
  return static_cast<double>(bits >> 11) * 0x1p-53 - 0.5;
}

}  // namespace bench
