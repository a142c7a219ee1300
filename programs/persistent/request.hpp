// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "collective.hpp"

namespace persistent {

/// A persistent request of a collective.
class Request {
 public:
  Request(Collective& collective, Maker maker, MPI_Info info)
      : error_(collective.init(maker, info, &request_)) {}
  ~Request() {
    if (error_ == MPI_SUCCESS) MPI_Request_free(&request_);
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// Of the call that made it.
  int error() const { return error_; }

  int start() { return MPI_Start(&request_); }
  int wait() { return MPI_Wait(&request_, MPI_STATUS_IGNORE); }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  int error_;
};

}  // namespace persistent
