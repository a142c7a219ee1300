// SPDX-License-Identifier: BSD-3-Clause

// The collectives besides alltoallv of which Oriel has persistent requests, in each of the ways in
// which a library offers them: the blocking call, the nonblocking one and its wait, start and wait
// of its own persistent request and of Oriel's. A plain MPI program: it runs on the host MPI alone
// and with Oriel preloaded, where it has these. `oriel bench collectives` starts it both ways in
// turn and compares. JSON lines as alltoallv's, one per call, size and variant.

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>

#include "bench/failure.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/options.hpp"
#include "persistent/buffers.hpp"
#include "persistent/collective.hpp"
#include "persistent/measurement.hpp"
#include "persistent/ranks.hpp"

namespace collectives {
namespace {

using persistent::Maker;

/// Returns how many variants were asked for.
int measure(const Options& options, const persistent::Ranks& ranks, const Entry& entry,
            std::size_t bytes) {
  const auto collective = entry.make(ranks, static_cast<int>(bytes / sizeof(persistent::Element)));
  persistent::Measurement measurement(
      ranks, options.lengths, options.variants, *collective,
      "\"call\":\"" + std::string(entry.name) + "\",\"bytes\":" + std::to_string(bytes));
  measurement.blocking("blocking");
  measurement.nonblocking("nonblocking");
  measurement.persistent("init", Maker::mpi, MPI_INFO_NULL);
  measurement.persistent("oriel", Maker::oriel, MPI_INFO_NULL);
  return measurement.played();
}

int measure(const Options& options, const persistent::Ranks& ranks) {
  int measured = 0;
  for (const Entry& entry : catalogue) {
    if (!options.calls.includes(entry.name)) continue;
    for (const std::size_t bytes : options.sizes) measured += measure(options, ranks, entry, bytes);
  }
  return measured;
}

}  // namespace
}  // namespace collectives

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const persistent::Ranks ranks;
    const collectives::Options options(argc, argv, ranks.size());
    if (collectives::measure(options, ranks) == 0) {
      bench::fail("none of what was asked for exists; leave --call or --variant away to see all.");
    }
  }
  MPI_Finalize();
}
