// SPDX-License-Identifier: BSD-3-Clause
// Stands before a host whose blocking collectives, but for MPI_Allreduce, and MPI_Wait nobody may
// call: they end the program. Where the host's own functions call one another, they do not come
// here.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>

namespace {

int refuse(const char* name) {
  std::fprintf(stderr, "FAILED: the host's own %s was called.\n", name);
  _exit(2);
}

}  // namespace

extern "C" {
int PMPI_Wait(MPI_Request*, MPI_Status*) {
  return refuse("MPI_Wait");
}
int PMPI_Barrier(MPI_Comm) {
  return refuse("MPI_Barrier");
}
int PMPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm) {
  return refuse("MPI_Bcast");
}
int PMPI_Allgather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) {
  return refuse("MPI_Allgather");
}
int PMPI_Alltoall(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) {
  return refuse("MPI_Alltoall");
}
int PMPI_Comm_dup(MPI_Comm, MPI_Comm*) {
  return refuse("MPI_Comm_dup");
}
}
