// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/progress/sweeping.hpp"

#include "engine/progress/waiting.hpp"
#include "mpi/host/communicator_mark.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

CommunicatorMark windows_made;  // set on communicators on which windows were made

/// Carries out aggregated puts before this rank sends a message. A program may rely on that: the
/// message may notify the target of the puts, although MPI requires a flush for that.
void carry_on_first() {
  const Running* running = engine.running();
  if (running != nullptr && running->process.pending() != 0) [[unlikely]]
    sweep_once(engine);
}

}  // namespace

bool must_sweep() {
  carry_on_first();
  return !progress.hooked() && engine.busy();
}

bool collectives_sweep(MPI_Comm communicator) {
  carry_on_first();
  return !progress.hooked() && communicator != MPI_COMM_NULL && windows_made.is_set(communicator);
}

void note_windows_on(MPI_Comm communicator) {
  if (!progress.hooked()) windows_made.set(communicator);
}

}  // namespace oriel::mpi
