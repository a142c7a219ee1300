// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/default_errhandlers.hpp"

#include "mpi/host/host_mpi.hpp"

#if ORIEL_HOST_DEFAULT_ERRHANDLERS

#include "mpi/host/communicator_mark.hpp"

namespace oriel::mpi {
namespace {

// Marks communicators to which the program has given MPI_ERRORS_ARE_FATAL.
// MPI_Comm_get_errhandler returns this handler for a communicator without an error handler, too.
CommunicatorMark made_fatal;

bool has_errhandler(MPI_Comm communicator) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(communicator, &handler);
  const bool may_be_none = handler == MPI_ERRORS_ARE_FATAL;
  if (handler != MPI_ERRHANDLER_NULL) host_mpi().Errhandler_free(&handler);
  if (!may_be_none) return true;
  return made_fatal.is_set(communicator);
}

/// True if the host uses the error handler of MPI_COMM_SELF for errors of no object: MPICH from 4.2
/// on (MPI-4). Earlier versions of MPICH, and Intel MPI, use that of MPI_COMM_WORLD.
bool asks_comm_self() {
  static const bool asks = [] {
    int major = 0, minor = 0;
    return std::sscanf(library_version().c_str(), "MPICH Version: %d.%d", &major, &minor) == 2 &&
           (major > 4 || (major == 4 && minor >= 2));
  }();
  return asks;
}

}  // namespace

MPI_Comm errhandler_owner(MPI_Comm communicator) {
  if (communicator != MPI_COMM_NULL && has_errhandler(communicator)) return communicator;
  return asks_comm_self() && has_errhandler(MPI_COMM_SELF) ? MPI_COMM_SELF : MPI_COMM_WORLD;
}

void set_errhandler(MPI_Comm communicator, MPI_Errhandler handler) {
  host_mpi().Comm_set_errhandler(communicator, handler);
}

}  // namespace oriel::mpi

using namespace oriel::mpi;

ORIEL_MPI_CALL(Comm_set_errhandler)(MPI_Comm comm, MPI_Errhandler errhandler) {
  const int code = host_mpi().Comm_set_errhandler(comm, errhandler);
  if (code == MPI_SUCCESS && comm != MPI_COMM_NULL && errhandler == MPI_ERRORS_ARE_FATAL) {
    made_fatal.set(comm);
  }
  return code;
}

#else

namespace oriel::mpi {

MPI_Comm errhandler_owner(MPI_Comm communicator) {
  return communicator != MPI_COMM_NULL ? communicator : MPI_COMM_WORLD;
}

void set_errhandler(MPI_Comm communicator, MPI_Errhandler handler) {
  PMPI_Comm_set_errhandler(communicator, handler);
}

}  // namespace oriel::mpi

#endif
