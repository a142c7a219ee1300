// SPDX-License-Identifier: BSD-3-Clause
// The last rank dies by SIGKILL before it starts a persistent alltoallv, after its start, or
// between two starts, when all have come through those before: the others' waits end in an error
// that names it, and their requests can be freed. Not a test by itself: its driver looks at the
// sentence of rank 0, and ends what is left of the job.
//
// Arguments: `before`, `after` or `between`; the way of the info key; `wait` or `test`.
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>

#include "support/alltoallv/exchange.hpp"
#include "support/loss.hpp"
#include "support/program.hpp"
#include "support/tally.hpp"

namespace {

using alltoallv::Exchange;

int finish(Exchange& exchange, bool by_tests) {
  if (!by_tests) return MPI_Wait(&exchange.request(), MPI_STATUS_IGNORE);
  int code = MPI_SUCCESS;
  int over = 0;
  while (code == MPI_SUCCESS && over == 0) {
    code = MPI_Test(&exchange.request(), &over, MPI_STATUS_IGNORE);
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc > 3);
  const std::string_view when = argv[1];
  const bool by_tests = std::string_view(argv[3]) == "test";
  support::Program program(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const support::Tally told;
  const int last = program.size() - 1;
  const int rounds_before = when == "between" ? 2 : 0;
  const alltoallv::AllTypes types;
  alltoallv::Shape shape{types.named("bytes"),
                         alltoallv::units(alltoallv::Pattern::all, program.size(), 1)};
  shape.rounds = 4;
  Exchange exchange(MPI_COMM_WORLD, shape);
  exchange.init(argv[2]);
  int round = 0;
  for (; round < rounds_before; ++round) exchange.run(round);
  support::barrier();
  if (program.rank() == last) {
    if (when == "after") {
      exchange.load(round);
      exchange.start();
    }
    std::raise(SIGKILL);
  }
  if (program.rank() == 0) {
    std::printf("ready\n");
    std::fflush(stdout);
  }
  const double begin = MPI_Wtime();
  // What a rank sent before it died may all have come: then one more round does.
  int code = MPI_SUCCESS;
  const int given_up = round + (when == "after" ? 2 : 1);
  for (; code == MPI_SUCCESS && round < given_up; ++round) {
    exchange.load(round);
    code = MPI_Start(&exchange.request());
    if (code == MPI_SUCCESS) code = finish(exchange, by_tests);
    if (code == MPI_SUCCESS) exchange.check(round);
  }
  CHECK(code != MPI_SUCCESS);
  const double seconds = MPI_Wtime() - begin;
  CHECK(exchange.request() != MPI_REQUEST_NULL);
  exchange.free();
  if (program.rank() != 0) {
    const std::string name = "rank " + std::to_string(last) + ' ';
    if (support::class_name(code).find(name) == std::string::npos) {
      support::fail(__FILE__, __LINE__, support::class_name(code));
    }
    told.add();
    // A rank that ends has the host end the others before they have told.
    ::pause();
  }
  while (told.count() < last - 1) ::usleep(1000);
  support::tell_loss(code, seconds);
}
