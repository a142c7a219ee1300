// SPDX-License-Identifier: BSD-3-Clause
// The calls of oriel/collectives.h, except those of alltoallv.
#include <dlfcn.h>
#include <oriel/profiling.h>

#include <limits>
#include <string>

#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/planned.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

/// Calls the host's function of the same name, for a disabled Oriel. The function is looked up,
/// because an older mpi.h does not declare it. The arguments end with communicator, info and
/// request.
template <typename... Arguments>
int call_host(const char* call, MPI_Comm communicator, Arguments... arguments) {
  const std::string name = std::string(call).replace(0, std::string("ORIEL_").size(), "MPI_");
  // Open MPI 4.1 has some of these functions as extensions.
  for (const std::string& full : {"P" + name, "PMPIX" + name.substr(std::string("MPI").size())}) {
    if (void* found = ::dlsym(RTLD_NEXT, full.c_str())) {
      return reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
    }
  }
  return raise(communicator, call, MPI_ERR_OTHER,
               "Oriel is disabled, and the MPI library has no " + name);
}

/// `ranks` adjacent blocks of `count` elements each.
AlltoallvSide blocks_of(const char* name, const void* buffer, MPI_Count count, MPI_Datatype type,
                        int ranks) {
  AlltoallvSide side;
  side.name = name;
  side.alike = true;
  side.buffer = const_cast<void*>(buffer);
  side.type = type;
  for (int rank = 0; rank < ranks; ++rank) {
    MPI_Aint first = 0;
    if (__builtin_mul_overflow(count, rank, &first)) first = std::numeric_limits<MPI_Aint>::max();
    side.counts.push_back(count);
    side.displacements.push_back(first);
  }
  return side;
}

template <typename Count, typename Displacement>
AlltoallvSide typed_blocks(const char* name, const void* buffer, const Count* counts,
                           const Displacement* displacements, const MPI_Datatype* types,
                           int ranks) {
  AlltoallvSide side(name, buffer, counts, displacements, MPI_DATATYPE_NULL,
                     static_cast<std::size_t>(ranks));
  if (types == nullptr) {
    side.missing = true;
  } else {
    side.types.assign(types, types + ranks);
  }
  return side;
}

template <typename Count>
int alltoall_init(const char* call, const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                  void* recvbuf, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                  MPI_Info info, MPI_Request* request) {
  CollectiveCaller caller;
  if (const int code = find_caller(call, comm, caller); code != MPI_SUCCESS) return code;
  if (runtime.disabled()) {
    return call_host(call, comm, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                     info, request);
  }
  AlltoallvArguments arguments;
  arguments.in_place = sendbuf == MPI_IN_PLACE;
  if (!arguments.in_place)
    arguments.send = blocks_of("sendcount", sendbuf, sendcount, sendtype, caller.ranks);
  arguments.receive = blocks_of("recvcount", recvbuf, recvcount, recvtype, caller.ranks);
  PlannedAlltoall planned(CollectiveKind::alltoall, std::move(arguments));
  return make_planned(call, planned, comm, caller.rank, info, request);
}

template <typename Count, typename Displacement>
int alltoallw_init(const char* call, const void* sendbuf, const Count* sendcounts,
                   const Displacement* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                   const Count* recvcounts, const Displacement* rdispls,
                   const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                   MPI_Request* request) {
  CollectiveCaller caller;
  if (const int code = find_caller(call, comm, caller); code != MPI_SUCCESS) return code;
  if (runtime.disabled()) {
    return call_host(call, comm, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                     rdispls, recvtypes, comm, info, request);
  }
  AlltoallvArguments arguments;
  arguments.in_place = sendbuf == MPI_IN_PLACE;
  if (!arguments.in_place) {
    arguments.send =
        typed_blocks("sendcounts", sendbuf, sendcounts, sdispls, sendtypes, caller.ranks);
  }
  arguments.receive =
      typed_blocks("recvcounts", recvbuf, recvcounts, rdispls, recvtypes, caller.ranks);
  PlannedAlltoall planned(CollectiveKind::alltoallw, std::move(arguments));
  return make_planned(call, planned, comm, caller.rank, info, request);
}

template <typename Count, typename Displacement>
int allgatherv_init(const char* call, const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                    void* recvbuf, const Count* recvcounts, const Displacement* displs,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  CollectiveCaller caller;
  if (const int code = find_caller(call, comm, caller); code != MPI_SUCCESS) return code;
  if (runtime.disabled()) {
    return call_host(call, comm, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                     recvtype, comm, info, request);
  }
  AlltoallvArguments arguments;
  arguments.in_place = sendbuf == MPI_IN_PLACE;
  if (!arguments.in_place) arguments.send = blocks_of("sendcount", sendbuf, sendcount, sendtype, 1);
  arguments.receive = AlltoallvSide("recvcounts", recvbuf, recvcounts, displs, recvtype,
                                    static_cast<std::size_t>(caller.ranks));
  PlannedAllgatherv planned(std::move(arguments), caller.rank);
  return make_planned(call, planned, comm, caller.rank, info, request);
}

template <typename Count>
int bcast_init(const char* call, void* buffer, Count count, MPI_Datatype datatype, int root,
               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  CollectiveCaller caller;
  if (const int code = find_caller(call, comm, caller); code != MPI_SUCCESS) return code;
  if (runtime.disabled()) {
    return call_host(call, comm, buffer, count, datatype, root, comm, info, request);
  }
  PlannedBcast planned(blocks_of("count", buffer, count, datatype, 1), root, caller.ranks);
  return make_planned(call, planned, comm, caller.rank, info, request);
}

template <typename Count>
int reduce_init(const char* call, const void* sendbuf, void* recvbuf, Count count,
                MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info,
                MPI_Request* request) {
  CollectiveCaller caller;
  if (const int code = find_caller(call, comm, caller); code != MPI_SUCCESS) return code;
  if (runtime.disabled()) {
    return call_host(call, comm, sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
  }
  ReduceArguments arguments{sendbuf, recvbuf, count, datatype, op, root, caller.ranks};
  arguments.at_root = caller.rank == root;
  PlannedReduce planned(arguments);
  return make_planned(call, planned, comm, caller.rank, info, request);
}

template <typename Count, typename Displacement>
int neighbor_alltoallv_init(const char* call, const void* sendbuf, const Count* sendcounts,
                            const Displacement* sdispls, MPI_Datatype sendtype, void* recvbuf,
                            const Count* recvcounts, const Displacement* rdispls,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                            MPI_Request* request) {
  CollectiveCaller caller;
  if (const int code = find_caller(call, comm, caller); code != MPI_SUCCESS) return code;
  if (runtime.disabled()) {
    return call_host(call, comm, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                     rdispls, recvtype, comm, info, request);
  }
  Neighbors neighbors;
  const Failure fault = find_neighbors(comm, caller.rank, neighbors);
  AlltoallvArguments arguments;
  arguments.in_place = sendbuf == MPI_IN_PLACE;
  arguments.send =
      AlltoallvSide("sendcounts", sendbuf, sendcounts, sdispls, sendtype, neighbors.to.size());
  arguments.receive =
      AlltoallvSide("recvcounts", recvbuf, recvcounts, rdispls, recvtype, neighbors.from.size());
  PlannedNeighbors planned(std::move(arguments), std::move(neighbors), fault);
  return make_planned(call, planned, comm, caller.rank, info, request);
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;

ORIEL_CALL(Alltoall_init)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                          MPI_Request* request) {
  return alltoall_init("ORIEL_Alltoall_init", sendbuf, sendcount, sendtype, recvbuf, recvcount,
                       recvtype, comm, info, request);
}

ORIEL_CALL(Alltoall_init_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return alltoall_init("ORIEL_Alltoall_init_c", sendbuf, sendcount, sendtype, recvbuf, recvcount,
                       recvtype, comm, info, request);
}

ORIEL_CALL(Alltoallw_init)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                           const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                           const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                           MPI_Info info, MPI_Request* request) {
  return alltoallw_init("ORIEL_Alltoallw_init", sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                        recvcounts, rdispls, recvtypes, comm, info, request);
}

ORIEL_CALL(Alltoallw_init_c)(const void* sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                             void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                             MPI_Request* request) {
  return alltoallw_init("ORIEL_Alltoallw_init_c", sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                        recvcounts, rdispls, recvtypes, comm, info, request);
}

ORIEL_CALL(Allgatherv_init)(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int displs[],
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                            MPI_Request* request) {
  return allgatherv_init("ORIEL_Allgatherv_init", sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                         displs, recvtype, comm, info, request);
}

ORIEL_CALL(Allgatherv_init_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                              MPI_Request* request) {
  return allgatherv_init("ORIEL_Allgatherv_init_c", sendbuf, sendcount, sendtype, recvbuf,
                         recvcounts, displs, recvtype, comm, info, request);
}

ORIEL_CALL(Bcast_init)(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                       MPI_Info info, MPI_Request* request) {
  return bcast_init("ORIEL_Bcast_init", buffer, count, datatype, root, comm, info, request);
}

ORIEL_CALL(Bcast_init_c)(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                         MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return bcast_init("ORIEL_Bcast_init_c", buffer, count, datatype, root, comm, info, request);
}

ORIEL_CALL(Reduce_init)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return reduce_init("ORIEL_Reduce_init", sendbuf, recvbuf, count, datatype, op, root, comm, info,
                     request);
}

ORIEL_CALL(Reduce_init_c)(const void* sendbuf, void* recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info,
                          MPI_Request* request) {
  return reduce_init("ORIEL_Reduce_init_c", sendbuf, recvbuf, count, datatype, op, root, comm, info,
                     request);
}

ORIEL_CALL(Neighbor_alltoallv_init)(const void* sendbuf, const int sendcounts[],
                                    const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                    const int recvcounts[], const int rdispls[],
                                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                    MPI_Request* request) {
  return neighbor_alltoallv_init("ORIEL_Neighbor_alltoallv_init", sendbuf, sendcounts, sdispls,
                                 sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info,
                                 request);
}

ORIEL_CALL(Neighbor_alltoallv_init_c)(const void* sendbuf, const MPI_Count sendcounts[],
                                      const MPI_Aint sdispls[], MPI_Datatype sendtype,
                                      void* recvbuf, const MPI_Count recvcounts[],
                                      const MPI_Aint rdispls[], MPI_Datatype recvtype,
                                      MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return neighbor_alltoallv_init("ORIEL_Neighbor_alltoallv_init_c", sendbuf, sendcounts, sdispls,
                                 sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info,
                                 request);
}
