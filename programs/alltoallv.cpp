// SPDX-License-Identifier: BSD-3-Clause

// The exchange of "Analyzing Persistent Alltoallv RMA Implementations for High-Performance MPI
// Communication", section 4: each rank sends its part to each rank, by the MPI library's own calls
// and by the algorithms of ORIEL_Alltoallv_init. A plain MPI program: it runs on the host MPI alone
// and with Oriel preloaded, where it has these. `oriel bench alltoallv` and `oriel bench sparse`
// start it both ways in turn and compare. One JSON line per variant and size, in microseconds of
// the slowest rank: the time of an exchange and, of persistent requests, of making and freeing one
// ("making"). A variant that the library does not have, or that refuses the pattern, prints why
// ("failed").

#include <mpi.h>

#include <cstddef>
#include <string>

#include "alltoallv/algorithm.hpp"
#include "alltoallv/alltoallv.hpp"
#include "alltoallv/options.hpp"
#include "alltoallv/pattern.hpp"
#include "bench/failure.hpp"
#include "persistent/collective.hpp"
#include "persistent/measurement.hpp"
#include "persistent/ranks.hpp"

namespace alltoallv {
namespace {

using persistent::Maker;

/// Returns how many variants were asked for.
int measure(const Options& options, const persistent::Ranks& ranks, const Pattern& pattern) {
  Alltoallv collective(ranks, pattern);
  persistent::Measurement measurement(ranks, options.lengths, options.variants, collective,
                                      "\"bytes\":" + std::to_string(pattern.longest()) +
                                          ",\"total\":" + std::to_string(pattern.total()));
  measurement.blocking("alltoallv");
  measurement.nonblocking("ialltoallv");
  measurement.persistent("alltoallv_init", Maker::mpi, MPI_INFO_NULL);
  for (const char* algorithm : algorithms) {
    const AlgorithmInfo info(algorithm);
    measurement.persistent(algorithm, Maker::oriel, info.handle());
  }
  return measurement.played();
}

int measure(const Options& options, const persistent::Ranks& ranks) {
  if (!options.counts.empty()) {
    return measure(options, ranks, Pattern::from_file(ranks.size(), ranks.rank(), options.counts));
  }
  int measured = 0;
  for (const std::size_t bytes : options.sizes) {
    measured += measure(options, ranks, Pattern::uniform(ranks.size(), bytes));
  }
  return measured;
}

}  // namespace
}  // namespace alltoallv

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const alltoallv::Options options(argc, argv);
    const persistent::Ranks ranks;
    if (alltoallv::measure(options, ranks) == 0) {
      bench::fail("none of the variants asked for exists; leave --variant away to see all.");
    }
  }
  MPI_Finalize();
}
