// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

// Every MPI call that this library answers to, under its MPI_ and its PMPI_ name: tools and the
// hosts' Fortran layers call the second, on windows that only we know. What we want of the host
// itself must therefore go around both names.

// clang-format off

#define ORIEL_INTERPOSED_START(X) X(Init) X(Init_thread) X(Finalize)

#define ORIEL_INTERPOSED_WINDOWS(X) \
  X(Win_create) X(Win_allocate) X(Win_allocate_shared) X(Win_create_dynamic) X(Win_free) \
  X(Win_attach) X(Win_detach) \
  X(Win_shared_query) X(Win_get_group) X(Win_get_info) X(Win_set_info) \
  X(Win_get_attr) X(Win_set_attr) X(Win_delete_attr) X(Win_set_name) X(Win_set_errhandler) \
  X(Alloc_mem) X(Free_mem)

#define ORIEL_INTERPOSED_SYNCHRONIZATION(X) \
  X(Win_fence) X(Win_post) X(Win_start) X(Win_complete) X(Win_wait) X(Win_test) X(Win_lock) \
  X(Win_unlock) X(Win_lock_all) X(Win_unlock_all) X(Win_flush) X(Win_flush_local) \
  X(Win_flush_all) X(Win_flush_local_all) X(Win_sync)

#define ORIEL_INTERPOSED_OPERATIONS(X) \
  X(Put) X(Get) X(Accumulate) X(Get_accumulate) X(Fetch_and_op) X(Compare_and_swap) X(Rput) \
  X(Rget) X(Raccumulate) X(Rget_accumulate)

#define ORIEL_INTERPOSED_OPS(X) X(Op_create) X(Op_free)

#define ORIEL_INTERPOSED_WAITS(X) \
  X(Wait) X(Waitany) X(Waitall) X(Waitsome) X(Test) X(Testany) X(Testall) X(Testsome) \
  X(Request_get_status) X(Start) X(Startall) X(Request_free)

#define ORIEL_INTERPOSED_BLOCKING(X) \
  X(Send) X(Ssend) X(Recv) X(Sendrecv) X(Probe) X(Iprobe) X(Barrier) X(Bcast) X(Reduce) \
  X(Allreduce) X(Gather) X(Allgather) X(Alltoall)

#if ORIEL_HOST_SESSIONS
#define ORIEL_INTERPOSED_SESSIONS(X) X(Session_init) X(Session_finalize)
#else
#define ORIEL_INTERPOSED_SESSIONS(X)
#endif

#if ORIEL_HOST_LARGE_COUNTS
#define ORIEL_INTERPOSED_LARGE_COUNTS(X) \
  X(Win_create_c) X(Win_allocate_c) X(Win_allocate_shared_c) X(Win_shared_query_c) X(Put_c) \
  X(Get_c) X(Accumulate_c) X(Get_accumulate_c) X(Rput_c) X(Rget_c) X(Raccumulate_c) \
  X(Rget_accumulate_c) X(Op_create_c) X(Alltoallv_init_c)
#else
#define ORIEL_INTERPOSED_LARGE_COUNTS(X)
#endif

#if ORIEL_HOST_PERSISTENT_COLLECTIVES
#define ORIEL_INTERPOSED_COLLECTIVES(X) X(Alltoallv_init)
#else
#define ORIEL_INTERPOSED_COLLECTIVES(X)
#endif

#if ORIEL_HOST_STATUS_OF_MANY
#define ORIEL_INTERPOSED_STATUS_OF_MANY(X) \
  X(Request_get_status_any) X(Request_get_status_all) X(Request_get_status_some)
#else
#define ORIEL_INTERPOSED_STATUS_OF_MANY(X)
#endif

// Interposed where the host's keys are short, else only called.
#if ORIEL_HOST_SHORT_INFO_KEYS
#define ORIEL_INTERPOSED_INFO(X) \
  X(Info_set) X(Info_get) X(Info_get_string) X(Info_get_valuelen) X(Info_delete)
#else
#define ORIEL_INTERPOSED_INFO(X) X(Info_set) X(Info_get)
#endif

#define ORIEL_INTERPOSED(X)           \
  ORIEL_INTERPOSED_START(X)           \
  ORIEL_INTERPOSED_SESSIONS(X)        \
  ORIEL_INTERPOSED_WINDOWS(X)         \
  ORIEL_INTERPOSED_SYNCHRONIZATION(X) \
  ORIEL_INTERPOSED_OPERATIONS(X)      \
  ORIEL_INTERPOSED_OPS(X)             \
  ORIEL_INTERPOSED_LARGE_COUNTS(X)    \
  ORIEL_INTERPOSED_COLLECTIVES(X)     \
  ORIEL_INTERPOSED_WAITS(X)           \
  ORIEL_INTERPOSED_STATUS_OF_MANY(X)  \
  ORIEL_INTERPOSED_BLOCKING(X)        \
  ORIEL_INTERPOSED_INFO(X)

// clang-format on

namespace oriel::boundary {

/// The host's own functions of these names. All others are called as PMPI_.
struct HostMpi {
  HostMpi();
// NOLINTNEXTLINE(bugprone-macro-parentheses): declarators take none
#define ORIEL_MEMBER(name) decltype(&PMPI_##name) name;
  ORIEL_INTERPOSED(ORIEL_MEMBER)
#undef ORIEL_MEMBER
};

/// Found at the first call, which may come before our own initialization.
inline const HostMpi& host_mpi() {
  static const HostMpi found;
  return found;
}

}  // namespace oriel::boundary

/// Begins the definition of MPI_name, one of the list.
#define ORIEL_MPI_CALL(name)                                  \
  static_assert(sizeof(oriel::boundary::HostMpi::name) != 0); \
  ORIEL_DEFINE_BOTH(MPI_##name, PMPI_##name)
