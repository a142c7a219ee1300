// SPDX-License-Identifier: BSD-3-Clause
// ORIEL_Alltoallv_init, and the calls of MPI_Alltoallv_init that Oriel carries out.
#include <oriel/profiling.h>

#include "boundary/collectives/algorithm.hpp"
#include "boundary/collectives/alltoallv_init.hpp"
#include "boundary/collectives/collective_caller.hpp"
#include "boundary/collectives/host_collective.hpp"
#include "boundary/host/errors.hpp"
#include "boundary/host/host_mpi.hpp"
#include "boundary/runtime/runtime.hpp"
#include "core/base/settings.hpp"

namespace oriel::boundary {
namespace {

template <typename Count, typename Displacement>
int alltoallv_init(const char* call, const void* sendbuf, const Count* sendcounts,
                   const Displacement* sdispls, MPI_Datatype sendtype, void* recvbuf,
                   const Count* recvcounts, const Displacement* rdispls, MPI_Datatype recvtype,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  AlltoallvArguments arguments;
  CollectiveCaller caller;
  if (const int code = find_caller(call, comm, caller); code != MPI_SUCCESS) return code;
  arguments.ranks = caller.ranks;
  const auto ranks = static_cast<std::size_t>(caller.ranks);
  arguments.large = sizeof(Count) > sizeof(int);
  arguments.in_place = sendbuf == MPI_IN_PLACE;
  if (!arguments.in_place) {
    arguments.send = AlltoallvSide("sendcounts", sendbuf, sendcounts, sdispls, sendtype, ranks);
  }
  arguments.receive = AlltoallvSide("recvcounts", recvbuf, recvcounts, rdispls, recvtype, ranks);
  if (runtime.disabled()) {
    return host_alltoallv_init(call, arguments, comm, info, request);
  }
  return make_alltoallv(call, arguments, comm, caller.rank, info, request);
}

#if ORIEL_HOST_PERSISTENT_COLLECTIVES

/// True if Oriel carries out a call of MPI's own name. The host carries out those on
/// intercommunicators, unless the info has the key ORIEL_ALLTOALLV.
bool asked_for(MPI_Info info, MPI_Comm communicator, bool large) {
  static const bool always = setting_bool("ORIEL_COLLECTIVES");
  if (runtime.disabled()) return false;
  return names_algorithm(info) || (always && !intercommunicator(communicator)) ||
         !host_has_alltoallv_init(large);
}

#endif

}  // namespace
}  // namespace oriel::boundary

using namespace oriel::boundary;

ORIEL_CALL(Alltoallv_init)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                           MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                           const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request* request) {
  return alltoallv_init("ORIEL_Alltoallv_init", sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                        recvcounts, rdispls, recvtype, comm, info, request);
}

ORIEL_CALL(Alltoallv_init_c)(const void* sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                             const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                             MPI_Request* request) {
  return alltoallv_init("ORIEL_Alltoallv_init_c", sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                        recvcounts, rdispls, recvtype, comm, info, request);
}

#if ORIEL_HOST_PERSISTENT_COLLECTIVES

ORIEL_MPI_CALL(Alltoallv_init)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                               MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                               const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                               MPI_Info info, MPI_Request* request) {
  if (!asked_for(info, comm, false)) {
    return host_mpi().Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                     rdispls, recvtype, comm, info, request);
  }
  return alltoallv_init("MPI_Alltoallv_init", sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                        recvcounts, rdispls, recvtype, comm, info, request);
}

#endif

#if ORIEL_HOST_LARGE_COUNTS

ORIEL_MPI_CALL(Alltoallv_init_c)(const void* sendbuf, const MPI_Count sendcounts[],
                                 const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                 const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  if (!asked_for(info, comm, true)) {
    return host_mpi().Alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                       rdispls, recvtype, comm, info, request);
  }
  return alltoallv_init("MPI_Alltoallv_init_c", sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                        recvcounts, rdispls, recvtype, comm, info, request);
}

#endif
