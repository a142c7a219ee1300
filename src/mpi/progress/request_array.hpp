// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "mpi/host/host.hpp"
#include "mpi/requests/own_requests.hpp"

namespace oriel::mpi {

/// MPI_Test without a sweep.
int test(MPI_Request* request, int* flag, MPI_Status* status);
/// MPI_Request_get_status without a sweep.
int get_status(MPI_Request request, int* flag, MPI_Status* status);

/// The requests of one call, some of which may be Oriel's: tests of them without a sweep. A wait
/// repeats a test of one object, which has looked up the requests once. The host is not called if
/// it has no request among them.
class RequestArray {
 public:
  /// For a call that ends complete requests.
  RequestArray(int count, MPI_Request* requests);
#if ORIEL_HOST_STATUS_OF_MANY
  /// For a call that only looks.
  RequestArray(int count, const MPI_Request* requests);
#endif
  ~RequestArray();
  RequestArray(const RequestArray&) = delete;
  RequestArray& operator=(const RequestArray&) = delete;

  /// MPI_Testany.
  int test_any(int* index, int* flag, MPI_Status* status);
  /// MPI_Testsome.
  int test_some(int* done, int* indices, MPI_Status* statuses);
  /// MPI_Testall.
  int test_all(int* flag, MPI_Status* statuses);
  /// MPI_Waitall, if it is called until the flag is set: a test of those requests that earlier
  /// calls have not found complete. Ends requests of the host's before all are complete.
  int test_rest(int* flag, MPI_Status* statuses);

 private:
  struct Own {
    int index;
    OwnRequest* request;  // null: complete from the start
  };
  /// Kept for the thread's next call, so that most calls allocate nothing. A nested call from a
  /// callback finds none.
  struct Buffers {
    std::vector<MPI_Request> handles;  // with MPI_REQUEST_NULL in the place of Oriel's
    std::vector<Own> own;
    std::vector<int> codes;
  };
  inline static thread_local Buffers spare;

  void find_own(const MPI_Request* requests);
  bool only_own() const { return buffers_.own.size() == static_cast<std::size_t>(count_); }
  /// The host's requests.
  MPI_Request* handles() { return buffers_.own.empty() ? requests_ : buffers_.handles.data(); }
  void give_back(int first, int end);
  int look(const Own& own, bool& ended, MPI_Status* status);
  int host_any(int* index, int* flag, MPI_Status* status);
  int host_some(int* done, int* indices, MPI_Status* statuses);
  int host_all(int first, int end, int* flag, MPI_Status* statuses);
  int end_own(MPI_Status* statuses);

  int count_;
  MPI_Request* requests_;  // the program's
  bool ends_ = true;       // complete requests
  Buffers buffers_;
  // test_rest(): all before these are complete.
  std::size_t next_own_ = 0;    // in buffers_.own
  int next_ = 0;                // in the host's requests
  std::size_t own_before_ = 0;  // in buffers_.own: the first with an index of at least next_
  std::vector<std::pair<int, int>> failed_;  // ranges whose error codes the host has set
};

}  // namespace oriel::mpi
