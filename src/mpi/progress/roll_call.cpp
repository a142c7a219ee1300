// SPDX-License-Identifier: BSD-3-Clause
// The roll call before the first window of a communicator.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "core/base/settings.hpp"
#include "engine/process/standard_error.hpp"
#include "engine/stalls/long_wait.hpp"
#include "mpi/host/communicator_mark.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/progress/mpi_host.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

CommunicatorMark complete;  // set on communicators whose roll call this rank has taken

int make_communicator(MPI_Comm communicator, MPI_Comm* made) {
  MPI_Group all = MPI_GROUP_NULL;
  int code = host_mpi().Comm_group(communicator, &all);
  if (code != MPI_SUCCESS) return code;
  {
    const HookedWait wait(engine, WaitReason::window);
    // MPI_Comm_dup would call the program's attribute callbacks.
    code = host_mpi().Comm_create(communicator, all, made);
  }
  host_mpi().Group_free(&all);
  return code;
}

/// Waits until the left neighbor has answered, or the request has failed. Returns false after
/// ORIEL_ROLL_CALL seconds, if that is not 0; a time in which this process is stopped counts as
/// 100 ms at most. The neighbor sends its answer when all ranks have begun to make the window. The
/// limit is long, because the neighbor may wait for a processor, and because the job ends after it.
bool wait_for_answer(MPI_Request* answer) {
  using namespace std::chrono;
  constexpr nanoseconds longest_poll = milliseconds(100);
  const nanoseconds limit = seconds(setting_int("ORIEL_ROLL_CALL"));
  nanoseconds waited{0};
  steady_clock::time_point before = steady_clock::now();
  StepCount polls;
  for (int done = 0;;) {
    if (host_mpi().Test(answer, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0) return true;
    if (limit.count() > 0 && waited > limit) return false;
    if (const Running* running = engine.running()) running->pace.yield_after_poll(polls);
    const steady_clock::time_point now = steady_clock::now();
    waited += std::min<nanoseconds>(now - before, longest_poll);
    before = now;
  }
}

[[noreturn]] void end_job(MPI_Comm communicator, const char* call, int rank) {
  standard_error.say(
      std::string("oriel: ") + call + ": rank " + std::to_string(rank) +
      " of the communicator runs without Oriel: it has begun to make the window, and has not "
      "answered within " +
      std::to_string(setting_int("ORIEL_ROLL_CALL")) +
      " s (ORIEL_ROLL_CALL). Start all programs that share a window with Oriel, which a statically "
      "linked or setuid program cannot load, or set ORIEL_DISABLE=1 for all.\n");
  // After MPI_Abort, a launcher may not read what ranks have written before.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  host_mpi().Abort(communicator, MPI_ERR_OTHER);
  std::abort();
}

}  // namespace

HostCode MpiComm::take_roll_call(const char* call) {
  const int own_rank = rank();
  const int all = ranks();
  if (!progress.hooked() || all == 1 || complete.is_set(communicator_)) return MPI_SUCCESS;
  MPI_Comm own = MPI_COMM_NULL;
  if (const int code = make_communicator(communicator_, &own); code != MPI_SUCCESS) return code;
  const int left = (own_rank + all - 1) % all;
  MPI_Request answer = MPI_REQUEST_NULL;
  MPI_Request sent = MPI_REQUEST_NULL;
  host_mpi().Irecv(nullptr, 0, MPI_BYTE, left, 0, own, &answer);
  host_mpi().Isend(nullptr, 0, MPI_BYTE, (own_rank + 1) % all, 0, own, &sent);
  if (!wait_for_answer(&answer)) end_job(communicator_, call, left);
  host_mpi().Wait(&sent, MPI_STATUS_IGNORE);
  host_mpi().Comm_free(&own);
  complete.set(communicator_);
  return MPI_SUCCESS;
}

}  // namespace oriel::mpi
