// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace bench {

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// A JSON list.
inline void print_list(const std::vector<double>& samples) {
  std::printf("[");
  for (std::size_t index = 0; index < samples.size(); ++index) {
    std::printf("%s%.5f", index ? "," : "", samples[index]);
  }
  std::printf("]");
}

/// The end of a JSON line: microseconds, one sample per batch, and their median.
inline void print_samples(const std::vector<double>& samples) {
  std::printf("\"unit\":\"us\",\"median\":%.5f,\"samples\":", median(samples));
  print_list(samples);
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace bench
