// SPDX-License-Identifier: BSD-3-Clause
// The calls that begin and end MPI.
#include <memory>
#include <utility>

#include "boundary/host/host_mpi.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/startup/lifetime.hpp"
#include "boundary/startup/load_report.hpp"

using namespace oriel::boundary;
using oriel::Running;

namespace {

void world_began() {
  runtime.note_thread_level();
  report_mpi_started();
}

}  // namespace

// MPI_Init may also grant MPI_THREAD_MULTIPLE: hosts have settings for that.
ORIEL_MPI_CALL(Init)(int* argc, char*** argv) {
  const int code = host_mpi().Init(argc, argv);
  if (code == MPI_SUCCESS) world_began();
  return code;
}

ORIEL_MPI_CALL(Init_thread)(int* argc, char*** argv, int required, int* provided) {
  const int code = host_mpi().Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) world_began();
  return code;
}

#if ORIEL_HOST_SESSIONS

// The thread level that a session was granted is unknown, so the locks are enabled.
ORIEL_MPI_CALL(Session_init)(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  const int code = host_mpi().Session_init(info, handler, session);
  if (code != MPI_SUCCESS) return code;
  engine.serialize_threads();
  lifetime.begin_session();
  add_session(*session);
  report_mpi_started();
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(Session_finalize)(MPI_Session* session) {
  if (session == nullptr) return host_mpi().Session_finalize(session);
  lifetime.disconnect_with_last_session();
  std::unique_ptr<Running> running = lifetime.before_session_ends();
  SessionEnd end(*session);
  const int code = host_mpi().Session_finalize(session);
  if (code == MPI_SUCCESS) {
    end.succeeded();
  } else {
    lifetime.begin_session();
  }
  lifetime.after_session_ended(std::move(running));
  return code;
}

#endif

ORIEL_MPI_CALL(Abort)(MPI_Comm comm, int errorcode) {
  lifetime.before_abort();
  return host_mpi().Abort(comm, errorcode);
}

ORIEL_MPI_CALL(Finalize)() {
  lifetime.disconnect();
  lifetime.before_world_ends();
  const int code = host_mpi().Finalize();
  lifetime.after_world_ended();
  return code;
}
