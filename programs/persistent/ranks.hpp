// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace persistent {

/// All ranks, and a communicator of theirs that returns errors: a variant may refuse what it is
/// asked for.
class Ranks {
 public:
  Ranks() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~Ranks() { MPI_Comm_free(&comm_); }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace persistent
