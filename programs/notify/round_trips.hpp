// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/row.hpp"
#include "bench/stopwatch.hpp"
#include "catalogue.hpp"
#include "job.hpp"
#include "options.hpp"

namespace notify {

/// Half of the round trips' time in microseconds, one sample per batch; meaningful on rank 0.
inline std::vector<double> half_round_trips_us(bench::Row& row, const Options& options) {
  bench::Stopwatch stopwatch(options.batches, options.batch_us, bench::Whose::rank_0);
  std::vector<double> samples = stopwatch.samples(row);
  row.finish();
  MPI_Barrier(MPI_COMM_WORLD);
  for (double& sample : samples) sample /= 2;
  return samples;
}

inline void measure_round_trips(const std::vector<Entry>& entries, const Job& job,
                                const Options& options, Recorder& recorder) {
  for (const Entry& entry : entries) {
    if (!options.measures.includes(entry.label.measure)) continue;
    if (!options.rows.includes(entry.label.row)) continue;
    recorder.record([&]() -> std::vector<Result> {
      const std::unique_ptr<bench::Row> row = entry.make(job);
      return {{entry.label, half_round_trips_us(*row, options), ""}};
    });
  }
}

}  // namespace notify
