// SPDX-License-Identifier: BSD-3-Clause
// The host's calls that start, cancel and free requests, for requests of Oriel's too.
#include "mpi/host/host_mpi.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

/// Returns false if the request is not Oriel's.
bool start(const char* call, MPI_Request request, int& code) {
  if (own_requests.is_complete(request)) {
    code = report(call, {}, {MPI_ERR_REQUEST, "the request is not persistent"});
    return true;
  }
  if (!own_requests.any()) return false;
  Failure failure;
  ErrorTaker taker;
  {
    const Guard guard(engine.lock);
    OwnRequest* ours = own_requests.find(request);
    if (ours == nullptr) return false;
    engine.running()->calls.count();
    failure = ours->start();
    if (failure) taker = ours->error_taker();
  }
  code = report(call, taker, failure);
  return true;
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;
using oriel::Guard;

ORIEL_MPI_CALL(Start)(MPI_Request* request) {
  if (request == nullptr) return refuse_null("MPI_Start");
  int code = MPI_SUCCESS;
  return start("MPI_Start", *request, code) ? code : host_mpi().Start(request);
}

ORIEL_MPI_CALL(Startall)(int count, MPI_Request* requests) {
  if (count > 0 && requests == nullptr) return refuse_null("MPI_Startall");
  if (!own_requests.any_of(count, requests)) return host_mpi().Startall(count, requests);
  for (int i = 0; i < count; ++i) {
    int code = MPI_SUCCESS;
    if (!start("MPI_Startall", requests[i], code)) code = host_mpi().Start(&requests[i]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

/// As the host cancels a generalized request whose owner cannot cancel it: without effect.
ORIEL_MPI_CALL(Cancel)(MPI_Request* request) {
  if (request == nullptr) return refuse_null("MPI_Cancel");
  return own_requests.any_of(1, request) ? MPI_SUCCESS : host_mpi().Cancel(request);
}

ORIEL_MPI_CALL(Request_free)(MPI_Request* request) {
  if (request == nullptr) return refuse_null("MPI_Request_free");
  if (own_requests.end_complete(request, MPI_STATUS_IGNORE)) return MPI_SUCCESS;
  if (own_requests.any()) {
    std::unique_ptr<OwnRequest> removed;
    Failure refused;
    ErrorTaker taker;
    {
      const Guard guard(engine.lock);
      if (OwnRequest* ours = own_requests.find(*request)) {
        refused = ours->refuse_free();
        taker = ours->error_taker();
        if (!refused) {
          removed = own_requests.remove(*ours);
          *request = MPI_REQUEST_NULL;
          return MPI_SUCCESS;
        }
      }
    }
    if (refused) return report("MPI_Request_free", taker, refused);
  }
  return host_mpi().Request_free(request);
}
