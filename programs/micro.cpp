// SPDX-License-Identifier: BSD-3-Clause

// The time of one-sided calls between two ranks; where there are more, of the first of the pairs
// that play at the same time. In contended rows all ranks play, and the time is that of all.
// A plain MPI program: it runs on the host MPI alone and with Oriel preloaded. `oriel bench micro`
// starts it both ways in turn and compares. One JSON line per row, times in microseconds.

#include "micro/catalogue.hpp"

#include <mpi.h>

#include <cstdio>
#include <optional>
#include <vector>

#include "bench/distance.hpp"
#include "bench/failure.hpp"
#include "bench/samples.hpp"
#include "bench/started_pvar.hpp"
#include "bench/stopwatch.hpp"
#include "micro/options.hpp"

namespace micro {
namespace {

void print(RowSet set, const Entry& entry, std::int64_t rounds, double before_ns, double after_ns,
           const std::vector<double>& samples) {
  const std::string_view name = name_of(set);
  std::printf(
      "{\"set\":\"%.*s\",\"row\":\"%s\",\"window\":\"%.*s\",\"bytes\":%zu,\"rounds\":%lld,"
      "\"round_trip_ns\":[%.0f,%.0f],",
      static_cast<int>(name.size()), name.data(), entry.row.c_str(),
      static_cast<int>(entry.window.size()), entry.window.data(), entry.bytes,
      static_cast<long long>(rounds), before_ns, after_ns);
  bench::print_samples(samples);
}

void run(const Options& options) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size % 2 != 0) {
    bench::fail("the benchmark is between pairs of ranks, and the job has " + std::to_string(size) +
                "; start it with an even number, -n 2.");
  }
  const Catalogue catalogue(options);
  const std::vector<Entry>& entries = catalogue.entries();
  if (entries.empty()) {
    bench::fail("none of the rows asked for exists; leave --row and --window away to see all.");
  }
  std::optional<bench::StartedPvar> pvar;
  if (options.pvar) pvar.emplace(*options.pvar);
  std::optional<bench::Distance> distance;
  if (!options.crowded) distance.emplace(rank);
  const auto round_trip_ns = [&] { return distance ? distance->round_trip_ns() : 0.0; };
  const auto whose = options.set == RowSet::contended ? bench::Whose::all : bench::Whose::rank_0;
  for (const Entry& entry : entries) {
    const std::unique_ptr<bench::Row> row = entry.make(rank);
    bench::Stopwatch stopwatch(options.batches, options.batch_us, whose);
    const double before_ns = round_trip_ns();
    std::vector<double> samples = stopwatch.samples(*row);
    const double after_ns = round_trip_ns();
    row->finish();
    MPI_Barrier(MPI_COMM_WORLD);
    row->check();
    for (double& sample : samples) sample /= entry.parts;
    if (rank != 0) continue;
    print(options.set, entry, stopwatch.rounds_per_batch(), before_ns, after_ns, samples);
  }
}

}  // namespace
}  // namespace micro

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  micro::run(micro::Options(argc, argv));
  MPI_Finalize();
}
