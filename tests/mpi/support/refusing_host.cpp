// SPDX-License-Identifier: BSD-3-Clause
// Stands before a host whose MPI_Alltoallv_init refuses its arguments on one rank alone: that of
// ORIEL_TEST_REFUSING, while it is set. Which arguments a host refuses is its own affair.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdlib>

extern "C" int PMPI_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                   MPI_Info info, MPI_Request* request) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  const char* refusing = std::getenv("ORIEL_TEST_REFUSING");
  if (refusing != nullptr && std::atoi(refusing) == rank) return MPI_ERR_BUFFER;
  static const auto host =
      reinterpret_cast<decltype(&PMPI_Alltoallv_init)>(dlsym(RTLD_NEXT, "PMPI_Alltoallv_init"));
  return host(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
              info, request);
}
