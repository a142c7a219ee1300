// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "bench/job.hpp"
#include "pattern.hpp"

namespace patterns {

/// All turns of one kind: every metric's value in every turn. `print` brings the ranks' parts
/// together and writes one JSON line per metric on rank 0.
class Series {
 public:
  void add(const std::vector<double>& measured) { turns_.push_back(measured); }

  void print(const bench::Job& job, const Pattern& pattern, const std::string& labels) const {
    for (std::size_t metric = 0; metric < pattern.metrics.size(); ++metric) {
      std::vector<double> mine;
      for (const std::vector<double>& turn : turns_) mine.push_back(turn[metric]);
      std::vector<double> values(mine.size());
      MPI_Reduce(mine.data(), values.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX, 0,
                 MPI_COMM_WORLD);
      const bool measured =
          std::any_of(values.begin(), values.end(), [](double v) { return v >= 0; });
      if (job.rank() == 0 && measured) write(pattern.metrics[metric], labels, values);
    }
  }

 private:
  static void write(std::string_view metric, const std::string& labels,
                    const std::vector<double>& values) {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    const double median =
        sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    const double mean =
        std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
    std::printf(
        "{%s,\"metric\":\"%.*s\",\"unit\":\"us\",\"median\":%.3f,\"mean\":%.3f,\"samples\":[",
        labels.c_str(), static_cast<int>(metric.size()), metric.data(), median, mean);
    for (std::size_t index = 0; index < values.size(); ++index) {
      std::printf("%s%.3f", index ? "," : "", values[index]);
    }
    std::printf("]}\n");
  }

  std::vector<std::vector<double>> turns_;
};

}  // namespace patterns
