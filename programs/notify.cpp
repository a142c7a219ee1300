// SPDX-License-Identifier: BSD-3-Clause

// What notified access costs between two ranks, beside messages and the other one-sided calls:
// "Notified Access: Extending Remote Memory Access Programming Models for Producer-Consumer
// Synchronization", section V; and how much of an epoch computation hides, as section VIII-A of
// "Nonblocking epochs in MPI one-sided communication" asks. A plain MPI program: it runs on the
// host MPI alone, where it measures what needs no notified access, and with Oriel preloaded. `oriel
// bench notify` starts it both ways in turn and compares. One JSON line per row, times in
// microseconds.

#include <mpi.h>

#include <optional>
#include <vector>

#include "bench/epoch_api.hpp"
#include "bench/epochs.hpp"
#include "bench/notify_api.hpp"
#include "bench/started_pvar.hpp"
#include "notify/calls.hpp"
#include "notify/catalogue.hpp"
#include "notify/job.hpp"
#include "notify/matching.hpp"
#include "notify/misses.hpp"
#include "notify/options.hpp"
#include "notify/overlap.hpp"
#include "notify/recorder.hpp"
#include "notify/round_trips.hpp"

namespace notify {
namespace {

void run(const Options& options) {
  const Job job;
  std::optional<bench::StartedPvar> pvar;
  if (options.pvar) pvar.emplace(*options.pvar);
  Recorder recorder(job);
  measure_round_trips(message_entries(options.sizes), job, options, recorder);
  measure_overlap<OverlappedMessage>(job, options, recorder);
  measure_round_trips(window_entries(options.sizes), job, options, recorder);
  measure_overlap<OverlappedFence>(job, options, recorder);
  if (options.measures.includes("epochs")) {
    measure_epochs<bench::Mode::blocking>(job, options, recorder);
    if (bench::EpochApi().complete()) {
      measure_epochs<bench::Mode::nonblocking>(job, options, recorder);
    }
  }
  if (!bench::NotifyApi().complete()) return;
  measure_overlap<OverlappedNotification>(job, options, recorder);
  if (options.measures.includes("calls")) {
    for (const int requests : {1, 32}) {
      recorder.record([&] { return call_results(job, options, requests); });
    }
  }
  if (options.measures.includes("matching")) measure_matching(job, options, recorder);
  if (options.measures.includes("misses")) measure_misses(job);
}

}  // namespace
}  // namespace notify

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  notify::run(notify::Options(argc, argv));
  MPI_Finalize();
}
