// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "bench/distance.hpp"
#include "bench/samples.hpp"
#include "job.hpp"

namespace notify {

/// What a row is called. The size is the payload's in bytes; for calls and matching it is how many
/// requests are active or notifications wait.
struct Label {
  std::string_view measure;
  std::string_view row;
  std::size_t size;
};

struct Result {
  Label label;
  std::vector<double> samples_us;
  std::string more;  // members of the line, each with a comma behind it
};

/// Prints one line per result, with the distance of the cores before and after it was measured.
class Recorder {
 public:
  explicit Recorder(const Job& job) : job_(job), distance_(job.rank) {}

  /// measure() returns Results, those of rank 0 are printed. Collective.
  template <typename Measure>
  void record(Measure&& measure) {
    const double before_ns = distance_.round_trip_ns();
    const std::vector<Result> results = measure();
    const double after_ns = distance_.round_trip_ns();
    if (job_.rank != client) return;
    for (const Result& result : results) {
      const Label& label = result.label;
      std::printf(
          "{\"measure\":\"%.*s\",\"row\":\"%.*s\",\"size\":%zu,\"round_trip_ns\":[%.0f,%.0f],%s",
          static_cast<int>(label.measure.size()), label.measure.data(),
          static_cast<int>(label.row.size()), label.row.data(), label.size, before_ns, after_ns,
          result.more.c_str());
      bench::print_samples(result.samples_us);
    }
  }

 private:
  Job job_;
  bench::Distance distance_;
};

}  // namespace notify
