// SPDX-License-Identifier: BSD-3-Clause
// The host's usual blocking calls, where its progress engine takes no hook: see sweeping.hpp. With
// a hook, or without anything of ours to be done, they are the host's own after one look.
#include "boundary/host/host_mpi.hpp"
#include "boundary/progress/sweeping.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {
namespace {

int probe_once(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (must_sweep()) {
    const Guard guard(runtime.lock);
    runtime.engine()->process.sweep();
  }
  return host_mpi().Iprobe(source, tag, comm, flag, status);
}

}  // namespace
}  // namespace oriel::boundary

using namespace oriel::boundary;

ORIEL_MPI_CALL(Send)(const void* buffer, int count, MPI_Datatype type, int rank, int tag,
                     MPI_Comm comm) {
  if (!must_sweep()) return host_mpi().Send(buffer, count, type, rank, tag, comm);
  return sweep_until_done(
      [&](MPI_Request* r) { return PMPI_Isend(buffer, count, type, rank, tag, comm, r); });
}

ORIEL_MPI_CALL(Ssend)(const void* buffer, int count, MPI_Datatype type, int rank, int tag,
                      MPI_Comm comm) {
  if (!must_sweep()) return host_mpi().Ssend(buffer, count, type, rank, tag, comm);
  return sweep_until_done(
      [&](MPI_Request* r) { return PMPI_Issend(buffer, count, type, rank, tag, comm, r); });
}

ORIEL_MPI_CALL(Recv)(void* buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                     MPI_Status* status) {
  if (!must_sweep()) return host_mpi().Recv(buffer, count, type, rank, tag, comm, status);
  return sweep_until_done(
      [&](MPI_Request* r) { return PMPI_Irecv(buffer, count, type, rank, tag, comm, r); }, status);
}

ORIEL_MPI_CALL(Barrier)(MPI_Comm comm) {
  if (!collectives_sweep(comm)) return host_mpi().Barrier(comm);
  return sweep_until_done([&](MPI_Request* r) { return PMPI_Ibarrier(comm, r); });
}

ORIEL_MPI_CALL(Bcast)(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (!collectives_sweep(comm)) return host_mpi().Bcast(buffer, count, type, root, comm);
  return sweep_until_done(
      [&](MPI_Request* r) { return PMPI_Ibcast(buffer, count, type, root, comm, r); });
}

ORIEL_MPI_CALL(Reduce)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                       int root, MPI_Comm comm) {
  if (!collectives_sweep(comm))
    return host_mpi().Reduce(send, receive, count, type, op, root, comm);
  return sweep_until_done(
      [&](MPI_Request* r) { return PMPI_Ireduce(send, receive, count, type, op, root, comm, r); });
}

ORIEL_MPI_CALL(Allreduce)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
  if (!collectives_sweep(comm)) return host_mpi().Allreduce(send, receive, count, type, op, comm);
  return sweep_until_done(
      [&](MPI_Request* r) { return PMPI_Iallreduce(send, receive, count, type, op, comm, r); });
}

ORIEL_MPI_CALL(Gather)(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                       int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  if (!collectives_sweep(comm)) {
    return host_mpi().Gather(send, send_count, send_type, receive, receive_count, receive_type,
                             root, comm);
  }
  return sweep_until_done([&](MPI_Request* r) {
    return PMPI_Igather(send, send_count, send_type, receive, receive_count, receive_type, root,
                        comm, r);
  });
}

ORIEL_MPI_CALL(Allgather)(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                          int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  if (!collectives_sweep(comm)) {
    return host_mpi().Allgather(send, send_count, send_type, receive, receive_count, receive_type,
                                comm);
  }
  return sweep_until_done([&](MPI_Request* r) {
    return PMPI_Iallgather(send, send_count, send_type, receive, receive_count, receive_type, comm,
                           r);
  });
}

ORIEL_MPI_CALL(Alltoall)(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                         int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  if (!collectives_sweep(comm)) {
    return host_mpi().Alltoall(send, send_count, send_type, receive, receive_count, receive_type,
                               comm);
  }
  return sweep_until_done([&](MPI_Request* r) {
    return PMPI_Ialltoall(send, send_count, send_type, receive, receive_count, receive_type, comm,
                          r);
  });
}

ORIEL_MPI_CALL(Sendrecv)(const void* send, int send_count, MPI_Datatype send_type, int destination,
                         int send_tag, void* receive, int receive_count, MPI_Datatype receive_type,
                         int source, int receive_tag, MPI_Comm comm, MPI_Status* status) {
  if (!must_sweep()) {
    return host_mpi().Sendrecv(send, send_count, send_type, destination, send_tag, receive,
                               receive_count, receive_type, source, receive_tag, comm, status);
  }
  MPI_Request sending = MPI_REQUEST_NULL;
  int code = PMPI_Isend(send, send_count, send_type, destination, send_tag, comm, &sending);
  if (code != MPI_SUCCESS) return code;
  code = sweep_until_done(
      [&](MPI_Request* r) {
        return PMPI_Irecv(receive, receive_count, receive_type, source, receive_tag, comm, r);
      },
      status);
  const int sent = oriel::boundary::wait(&sending, MPI_STATUS_IGNORE);
  return code != MPI_SUCCESS ? code : sent;
}

ORIEL_MPI_CALL(Probe)(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!must_sweep()) return host_mpi().Probe(source, tag, comm, status);
  int flag = 0;
  int code = MPI_SUCCESS;
  while (code == MPI_SUCCESS && flag == 0) code = probe_once(source, tag, comm, &flag, status);
  return code;
}

ORIEL_MPI_CALL(Iprobe)(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return probe_once(source, tag, comm, flag, status);
}
