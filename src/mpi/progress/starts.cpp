// SPDX-License-Identifier: BSD-3-Clause
// The host's calls that start and free requests, for persistent requests of Oriel's too.
#include "mpi/host/host_mpi.hpp"
#include "mpi/progress/request_completion.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

/// Returns false if the request is not Oriel's.
bool start(const char* call, MPI_Request request, int& code) {
  if (!own_requests.persistent.any()) return false;
  Failure failure;
  ErrorTaker taker;
  {
    const Guard guard(engine.lock);
    PersistentRequest* ours = own_requests.persistent.find(request);
    if (ours == nullptr) return false;
    engine.running()->calls.count();
    taker = ours->error_taker();
    failure = ours->start();
  }
  code = report(call, taker, failure);
  return true;
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;
using oriel::Guard;

ORIEL_MPI_CALL(Start)(MPI_Request* request) {
  if (!own_requests.persistent.any()) return host_mpi().Start(request);
  if (request == nullptr) return refuse_null("MPI_Start");
  int code = MPI_SUCCESS;
  return start("MPI_Start", *request, code) ? code : host_mpi().Start(request);
}

ORIEL_MPI_CALL(Startall)(int count, MPI_Request* requests) {
  if (own_requests.persistent.any() && count > 0 && requests == nullptr) {
    return refuse_null("MPI_Startall");
  }
  if (!any_of_ours(count, requests)) return host_mpi().Startall(count, requests);
  for (int i = 0; i < count; ++i) {
    int code = MPI_SUCCESS;
    if (!start("MPI_Startall", requests[i], code)) code = host_mpi().Start(&requests[i]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(Request_free)(MPI_Request* request) {
  if (own_requests.persistent.any()) {
    if (request == nullptr) return refuse_null("MPI_Request_free");
    std::unique_ptr<PersistentRequest> removed;
    Failure refused;
    ErrorTaker taker;
    {
      const Guard guard(engine.lock);
      if (PersistentRequest* ours = own_requests.persistent.find(*request)) {
        refused = ours->refuse_free();
        taker = ours->error_taker();
        if (!refused) {
          removed = own_requests.persistent.remove(*request, *ours);
          *request = MPI_REQUEST_NULL;
          return MPI_SUCCESS;
        }
      }
    }
    if (refused) return report("MPI_Request_free", taker, refused);
  }
  return host_mpi().Request_free(request);
}
