// SPDX-License-Identifier: BSD-3-Clause
// The beginning and the end of MPI_T.
#include "boundary/host/host.hpp"
#include "boundary/host/host_mpi.hpp"
#include "boundary/mpi_t/tool_interface.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/startup/lifetime.hpp"

using namespace oriel::boundary;
using oriel::Guard;

// A tool may call MPI_T on a thread of its own while the program makes MPI calls, whatever thread
// level MPI has granted. If the program's calls already run without a lock, locks cannot be enabled
// any more: the tool is then granted MPI_THREAD_SINGLE.
ORIEL_MPI_CALL(T_init_thread)(int required, int* provided) {
  const int code = host_mpi().T_init_thread(required, provided);
  if (code != MPI_SUCCESS) return code;
  if (required != MPI_THREAD_SINGLE && !lifetime.serialize_threads()) {
    *provided = MPI_THREAD_SINGLE;
  }
  const Guard guard(engine.lock);
  tool_interface.begin();
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(T_finalize)() {
  const int code = host_mpi().T_finalize();
  if (code != MPI_SUCCESS) return code;
  const Guard guard(engine.lock);
  tool_interface.end();
  return MPI_SUCCESS;
}
