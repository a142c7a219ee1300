// SPDX-License-Identifier: BSD-3-Clause
// The host's waits and tests, so that they carry our requests on. Without any of ours pending they
// are the host's own after one look.
#include "boundary/host.hpp"
#include "boundary/progress.hpp"
#include "boundary/requests.hpp"
#include "boundary/waiting.hpp"

namespace oriel::boundary {
namespace {

/// Whether the host's own wait would leave something of ours undone.
bool ours_pending() {
  return requests.live() || (!progress.hooked() && runtime.useful());
}

/// Calls test(&flag) and sweeps until it says yes or fails.
template <typename Test>
int keep_testing(Test&& test) {
  Waiter waiter;
  while (true) {
    int flag = 0;
    const int code = test(&flag);
    if (code != MPI_SUCCESS || flag != 0) return code;
    waiter.round_unlocked();
    if (waiter.check_peers()) requests.fail_lost();
  }
}

/// The same with a sweep first: it costs a few cache lines, a host's test may look through its
/// network.
template <typename Test>
int wait_by_testing(Test&& test) {
  sweep_once();
  return keep_testing(test);
}

/// One look, with a sweep before it. A program that polls in a loop must let the rank run that it
/// polls for.
template <typename Test>
int test_after_sweep(int* flag, Test&& test) {
  if (!ours_pending()) return test();
  const bool moved = sweep_once();
  const int code = test();
  if (code == MPI_SUCCESS && *flag == 0 && !moved) considerate_poll();
  return code;
}

}  // namespace
}  // namespace oriel::boundary

using namespace oriel::boundary;

ORIEL_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (!ours_pending()) return PMPI_Wait(request, status);
  return wait_by_testing([&](int* flag) { return PMPI_Test(request, flag, status); });
}

ORIEL_EXPORT int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (!ours_pending()) return PMPI_Waitany(count, requests, index, status);
  return wait_by_testing(
      [&](int* flag) { return PMPI_Testany(count, requests, index, flag, status); });
}

ORIEL_EXPORT int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (!ours_pending() || count < 0) return PMPI_Waitall(count, requests, statuses);
  // One after the other, so that a million requests are looked at once each and not in every round.
  sweep_once();
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    keep_testing(
        [&](int* flag) { return PMPI_Request_get_status(requests[i], flag, MPI_STATUS_IGNORE); });
  }
  return PMPI_Waitall(count, requests, statuses);
}

ORIEL_EXPORT int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* indices,
                              MPI_Status* statuses) {
  if (!ours_pending()) return PMPI_Waitsome(count, requests, done, indices, statuses);
  return wait_by_testing([&](int* flag) {
    const int code = PMPI_Testsome(count, requests, done, indices, statuses);
    *flag = *done != 0;  // MPI_UNDEFINED, too: nothing active
    return code;
  });
}

ORIEL_EXPORT int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return test_after_sweep(flag, [&] { return PMPI_Test(request, flag, status); });
}

ORIEL_EXPORT int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag,
                             MPI_Status* status) {
  return test_after_sweep(flag, [&] { return PMPI_Testany(count, requests, index, flag, status); });
}

ORIEL_EXPORT int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  return test_after_sweep(flag, [&] { return PMPI_Testall(count, requests, flag, statuses); });
}

ORIEL_EXPORT int MPI_Testsome(int count, MPI_Request* requests, int* done, int* indices,
                              MPI_Status* statuses) {
  return test_after_sweep(done,
                          [&] { return PMPI_Testsome(count, requests, done, indices, statuses); });
}

ORIEL_EXPORT int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return test_after_sweep(flag, [&] { return PMPI_Request_get_status(request, flag, status); });
}

#if ORIEL_HOST_STATUS_OF_MANY

ORIEL_EXPORT int MPI_Request_get_status_any(int count, const MPI_Request* requests, int* index,
                                            int* flag, MPI_Status* status) {
  return test_after_sweep(
      flag, [&] { return PMPI_Request_get_status_any(count, requests, index, flag, status); });
}

ORIEL_EXPORT int MPI_Request_get_status_all(int count, const MPI_Request* requests, int* flag,
                                            MPI_Status* statuses) {
  return test_after_sweep(
      flag, [&] { return PMPI_Request_get_status_all(count, requests, flag, statuses); });
}

ORIEL_EXPORT int MPI_Request_get_status_some(int count, const MPI_Request* requests, int* done,
                                             int* indices, MPI_Status* statuses) {
  return test_after_sweep(
      done, [&] { return PMPI_Request_get_status_some(count, requests, done, indices, statuses); });
}

#endif
