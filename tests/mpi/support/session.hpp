// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/check.hpp"

namespace support {

/// A communicator of all processes of a session.
inline MPI_Comm communicator_of_all(MPI_Session session, const char* tag) {
  MPI_Group all;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Comm made;
  MPI_Comm_create_from_group(all, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  MPI_Group_free(&all);
  return made;
}

}  // namespace support
