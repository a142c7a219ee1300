// SPDX-License-Identifier: BSD-3-Clause
// Blocking calls of the host that must sweep if its progress engine has no hook (waits.hpp), and
// that are more than their nonblocking form and a wait. All others are generated from the table of
// calls. If no sweep is needed, a call makes one check and calls the host's function.
#include <limits>
#include <memory>

#include "engine/progress/waiting.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/progress/waits.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"

// MPICH returns MPI_SUCCESS from a call that fails if the error handler is the program's. The
// output arguments show the failure: a call that fails does not set them.

namespace oriel::mpi {
namespace {

/// Converts a count for a host without large-count calls. Ends the process if the count does not
/// fit.
int fit_into_int(MPI_Count count) {
  if (count > std::numeric_limits<int>::max()) end_for_missing_call();
  return static_cast<int>(count);
}

// These call the host's function with large counts if the host has it.

int start_receive(void* buffer, MPI_Count count, MPI_Datatype type, int source, int tag,
                  MPI_Comm comm, MPI_Request* request) {
#if ORIEL_HOST_LARGE_COUNTS
  if (host_has(host_mpi().Irecv_c)) {
    return host_mpi().Irecv_c(buffer, count, type, source, tag, comm, request);
  }
#endif
  return host_mpi().Irecv(buffer, fit_into_int(count), type, source, tag, comm, request);
}

int start_send(const void* buffer, MPI_Count count, MPI_Datatype type, int destination, int tag,
               MPI_Comm comm, MPI_Request* request) {
#if ORIEL_HOST_LARGE_COUNTS
  if (host_has(host_mpi().Isend_c)) {
    return host_mpi().Isend_c(buffer, count, type, destination, tag, comm, request);
  }
#endif
  return host_mpi().Isend(buffer, fit_into_int(count), type, destination, tag, comm, request);
}

int size_packed(MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Count* size) {
#if ORIEL_HOST_LARGE_COUNTS
  if (host_has(host_mpi().Pack_size_c)) return host_mpi().Pack_size_c(count, type, comm, size);
#endif
  int bytes = -1;
  const int code = host_mpi().Pack_size(fit_into_int(count), type, comm, &bytes);
  *size = bytes;
  return code;
}

int pack(const void* buffer, MPI_Count count, MPI_Datatype type, void* packed, MPI_Count capacity,
         MPI_Count* size, MPI_Comm comm) {
#if ORIEL_HOST_LARGE_COUNTS
  if (host_has(host_mpi().Pack_c)) {
    return host_mpi().Pack_c(buffer, count, type, packed, capacity, size, comm);
  }
#endif
  int bytes = 0;
  const int code = host_mpi().Pack(buffer, fit_into_int(count), type, packed,
                                   fit_into_int(capacity), &bytes, comm);
  *size = bytes;
  return code;
}

/// The source or destination of one message.
struct Peer {
  int rank;
  int tag;
};

/// A receive and a send at the same time. Not MPI_Isendrecv, because that of Intel MPI 2021.18 does
/// not set the status of the receive.
template <typename Receive, typename Send>
int exchange(Receive&& receive, Send&& send, MPI_Status* status) {
  MPI_Request receiving = MPI_REQUEST_NULL;
  MPI_Request sending = MPI_REQUEST_NULL;
  // The receive is posted first: if the arguments of either call are wrong, nothing is sent.
  int code = receive(&receiving);
  if (receiving == MPI_REQUEST_NULL) return code;
  code = send(&sending);
  if (sending == MPI_REQUEST_NULL) {
    host_mpi().Cancel(&receiving);
    wait_for_host(&receiving);
    return code;
  }
  const int received = wait_for_host(&receiving, status);
  const int sent = wait_for_host(&sending);
  return received != MPI_SUCCESS ? received : sent;
}

int exchange(const void* sent, MPI_Count send_count, MPI_Datatype send_type, Peer destination,
             void* received, MPI_Count receive_count, MPI_Datatype receive_type, Peer source,
             MPI_Comm comm, MPI_Status* status) {
  const int code = exchange(
      [&](MPI_Request* request) {
        return start_receive(received, receive_count, receive_type, source.rank, source.tag, comm,
                             request);
      },
      [&](MPI_Request* request) {
        return start_send(sent, send_count, send_type, destination.rank, destination.tag, comm,
                          request);
      },
      status);
  if (code != MPI_SUCCESS || source.rank != MPI_PROC_NULL) return code;
  // The status of the nonblocking receive is wrong in MPICH 4.0 (calls.ini).
  return host_mpi().Recv(received, 0, receive_type, MPI_PROC_NULL, source.tag, comm, status);
}

int exchange_in_place(void* buffer, MPI_Count count, MPI_Datatype type, Peer destination,
                      Peer source, MPI_Comm comm, MPI_Status* status) {
  MPI_Count capacity = -1;
  int code = size_packed(count, type, comm, &capacity);
  if (capacity < 0) return code;
  const auto copy = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(capacity));
  MPI_Count packed = 0;
  code = pack(buffer, count, type, copy.get(), capacity, &packed, comm);
  if (code != MPI_SUCCESS) return code;
  return exchange(copy.get(), packed, MPI_PACKED, destination, buffer, count, type, source, comm,
                  status);
}

/// Repeats probe(&flag), with sweeps in between, until it finds a message or fails.
template <typename Probe>
int probe_until_found(Probe&& probe) {
  Waiter waiter(engine, false);
  while (true) {
    int flag = -1;
    const int code = probe(&flag);
    if (code != MPI_SUCCESS || flag != 0) return code;
    waiter.round_unlocked();
    if (waiter.check_peers()) own_requests.fail_lost();
  }
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;

ORIEL_MPI_CALL(Sendrecv)
(const void* send, int send_count, MPI_Datatype send_type, int destination, int send_tag,
 void* receive, int receive_count, MPI_Datatype receive_type, int source, int receive_tag,
 MPI_Comm comm, MPI_Status* status) {
  return call_host([&] {
    if (!must_sweep()) {
      return host_mpi().Sendrecv(send, send_count, send_type, destination, send_tag, receive,
                                 receive_count, receive_type, source, receive_tag, comm, status);
    }
    return exchange(send, send_count, send_type, {destination, send_tag}, receive, receive_count,
                    receive_type, {source, receive_tag}, comm, status);
  });
}

ORIEL_MPI_CALL(Sendrecv_replace)
(void* buffer, int count, MPI_Datatype type, int destination, int send_tag, int source,
 int receive_tag, MPI_Comm comm, MPI_Status* status) {
  return call_host([&] {
    if (!must_sweep()) {
      return host_mpi().Sendrecv_replace(buffer, count, type, destination, send_tag, source,
                                         receive_tag, comm, status);
    }
    return exchange_in_place(buffer, count, type, {destination, send_tag}, {source, receive_tag},
                             comm, status);
  });
}

#if ORIEL_HOST_LARGE_COUNTS

ORIEL_MPI_CALL(Sendrecv_c)
(const void* send, MPI_Count send_count, MPI_Datatype send_type, int destination, int send_tag,
 void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int source, int receive_tag,
 MPI_Comm comm, MPI_Status* status) {
  return call_host([&] {
    if (!must_sweep()) {
      return host_mpi().Sendrecv_c(send, send_count, send_type, destination, send_tag, receive,
                                   receive_count, receive_type, source, receive_tag, comm, status);
    }
    return exchange(send, send_count, send_type, {destination, send_tag}, receive, receive_count,
                    receive_type, {source, receive_tag}, comm, status);
  });
}

ORIEL_MPI_CALL(Sendrecv_replace_c)
(void* buffer, MPI_Count count, MPI_Datatype type, int destination, int send_tag, int source,
 int receive_tag, MPI_Comm comm, MPI_Status* status) {
  return call_host([&] {
    if (!must_sweep()) {
      return host_mpi().Sendrecv_replace_c(buffer, count, type, destination, send_tag, source,
                                           receive_tag, comm, status);
    }
    return exchange_in_place(buffer, count, type, {destination, send_tag}, {source, receive_tag},
                             comm, status);
  });
}

#endif

ORIEL_MPI_CALL(Probe)(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return call_host([&] {
    if (!must_sweep()) return host_mpi().Probe(source, tag, comm, status);
    return probe_until_found(
        [&](int* flag) { return host_mpi().Iprobe(source, tag, comm, flag, status); });
  });
}

ORIEL_MPI_CALL(Iprobe)(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (must_sweep()) sweep_once(engine);
  return host_mpi().Iprobe(source, tag, comm, flag, status);
}

ORIEL_MPI_CALL(Mprobe)
(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return call_host([&] {
    if (!must_sweep()) return host_mpi().Mprobe(source, tag, comm, message, status);
    return probe_until_found(
        [&](int* flag) { return host_mpi().Improbe(source, tag, comm, flag, message, status); });
  });
}

ORIEL_MPI_CALL(Improbe)
(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  if (must_sweep()) sweep_once(engine);
  return host_mpi().Improbe(source, tag, comm, flag, message, status);
}
