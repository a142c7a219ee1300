// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/self_comm.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host_mpi.hpp"

#include <unistd.h>

#include <string>

#include "engine/process/node.hpp"

namespace oriel::mpi {

thread_local bool SelfComm::raised = false;

void SelfComm::record_error(MPI_Comm*, int*, ...) {
  raised = true;
}

bool SelfComm::start() {
  if (started_) return true;
  comm_ = MPI_COMM_NULL;
  if (world_exists()) {
    // Split, not duplicated, so that the program's attributes are not copied.
    host_mpi().Comm_split(MPI_COMM_SELF, 0, 0, &comm_);
  } else if (!make_session()) {
    return false;
  }
  // Not MPI_ERRORS_RETURN: Intel MPI 2021.18 has another value for it than the standard ABI.
  MPI_Errhandler quiet = MPI_ERRHANDLER_NULL;
  host_mpi().Comm_create_errhandler(&record_error, &quiet);
  set_errhandler(comm_, quiet);
  host_mpi().Errhandler_free(&quiet);
  started_ = true;
  return true;
}

void SelfComm::advance_host() const {
  int flag = 0;
#if ORIEL_HOST_PROBE_ADVANCES
  host_mpi().Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &flag, MPI_STATUS_IGNORE);
#else
  // A test of a receive advances the traffic. No message is sent to this receive.
  MPI_Request never = MPI_REQUEST_NULL;
  if (host_mpi().Irecv(nullptr, 0, MPI_BYTE, 0, 0, comm_, &never) != MPI_SUCCESS) return;
  host_mpi().Test(&never, &flag, MPI_STATUS_IGNORE);
  host_mpi().Cancel(&never);
  host_mpi().Request_free(&never);
#endif
}

void SelfComm::stop() {
#if ORIEL_HOST_SESSIONS
  if (has_session_) {
    host_mpi().Comm_free(&comm_);
    host_mpi().Session_finalize(&session_);
    has_session_ = false;
  }
#endif
  started_ = false;
}

#if ORIEL_HOST_SESSIONS

bool SelfComm::make_session() {
  if (host_mpi().Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session_) != MPI_SUCCESS) {
    return false;
  }
  has_session_ = true;
  MPI_Group self = MPI_GROUP_NULL;
  host_mpi().Group_from_session_pset(session_, "mpi://SELF", &self);
  // In Open MPI this name must be unique in the whole job.
  const std::string name =
      "oriel-" + std::to_string(Node::here().id) + "-" + std::to_string(::getpid());
  host_mpi().Comm_create_from_group(self, name.c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                    &comm_);
  host_mpi().Group_free(&self);
  return comm_ != MPI_COMM_NULL;
}

#else

bool SelfComm::make_session() {
  return false;
}

#endif

}  // namespace oriel::mpi
