// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "failure.hpp"

namespace bench {

/// A counter of MPI_T that is started, as a tool would, while the object lives. Ends the job if the
/// MPI has none of the name.
class StartedPvar {
 public:
  explicit StartedPvar(const std::string& name) {
    int provided = 0;
    int index = -1;
    int count = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (MPI_T_pvar_get_index(name.c_str(), MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS) {
      fail("the MPI library has no counter " + name + "; start the program with Oriel.");
    }
    MPI_T_pvar_session_create(&session_);
    MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle_, &count);
    MPI_T_pvar_start(session_, handle_);
  }
  ~StartedPvar() {
    MPI_T_pvar_session_free(&session_);
    MPI_T_finalize();
  }
  StartedPvar(const StartedPvar&) = delete;
  StartedPvar& operator=(const StartedPvar&) = delete;

 private:
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
};

}  // namespace bench
