// SPDX-License-Identifier: BSD-3-Clause
// C1, G2, G8: ranks that are through with their persistent collectives end their last session while
// others have not begun theirs. They go when nobody needs anything of them any more: on a
// communicator that has been freed, and on one that has not.
#include <oriel/collectives.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "support/check.hpp"
#include "support/exported.hpp"
#include "support/session.hpp"
#include "support/time_limit.hpp"

namespace {

constexpr int uses = 4;

/// Sums on rank 0, which goes on without the others' knowledge, as they do without each other's.
void reduce(MPI_Comm comm, int late) {
  static const auto reduce_init =
      support::exported<decltype(&ORIEL_Reduce_init)>("ORIEL_Reduce_init");
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == late) ::usleep(300'000);
  std::array<long, 4> own{};
  std::array<long, 4> sums{};
  MPI_Request request;
  CHECK_EQUAL(
      reduce_init(own.data(), sums.data(), 4, MPI_LONG, MPI_SUM, 0, comm, MPI_INFO_NULL, &request),
      MPI_SUCCESS);
  for (int use = 0; use < uses; ++use) {
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = use + rank + long(i);
    if (rank == late) ::usleep(30'000);
    CHECK_EQUAL(MPI_Start(&request), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (std::size_t i = 0; rank == 0 && i < sums.size(); ++i) {
      CHECK_EQUAL(sums[i], long(size) * (use + long(i)) + long(size) * (size - 1) / 2);
    }
  }
  MPI_Request_free(&request);
}

}  // namespace

int main() {
  support::limit_time();
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Comm freed = support::communicator_of_all(session, "freed");
  MPI_Comm kept = support::communicator_of_all(session, "kept");
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(kept, &rank);
  MPI_Comm_size(kept, &size);
  if (std::getenv("ORIEL_TEST_HOST_ONLY") == nullptr) {  // no host has them
    reduce(freed, size - 1);
    reduce(kept, 0);
  }
  MPI_Comm_free(&freed);
  MPI_Session_finalize(&session);
  if (rank == 0) std::printf("ok: 2 tests on %d ranks, 0 skipped\n", size);
}
