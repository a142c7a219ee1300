// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/progress/sweeping.hpp"

#include "boundary/progress/progress.hpp"
#include "boundary/progress/waiting.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {
namespace {

int mark = MPI_KEYVAL_INVALID;  // attribute of the communicators that windows were made on

/// Aggregated puts go before this rank sends a message, which may tell its target of them, though
/// MPI asks for a flush.
void carry_on_first() {
  const Engine* engine = runtime.engine();
  if (engine != nullptr && engine->process.pending() != 0) [[unlikely]]
    sweep_once();
}

}  // namespace

bool must_sweep() {
  carry_on_first();
  return !progress.hooked() && runtime.busy();
}

bool collectives_sweep(MPI_Comm communicator) {
  carry_on_first();
  if (progress.hooked() || mark == MPI_KEYVAL_INVALID || communicator == MPI_COMM_NULL) {
    return false;
  }
  void* value = nullptr;
  int found = 0;
  return PMPI_Comm_get_attr(communicator, mark, &value, &found) == MPI_SUCCESS && found != 0;
}

void note_windows_on(MPI_Comm communicator) {
  if (progress.hooked()) return;
  if (mark == MPI_KEYVAL_INVALID &&
      PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &mark, nullptr) !=
          MPI_SUCCESS) {
    return;
  }
  PMPI_Comm_set_attr(communicator, mark, &mark);
}

}  // namespace oriel::boundary
