// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

/// A host MPI of one process, as far as the MPI layer needs one for tests without an MPI job: a
/// library of its own, in which HostMpi finds the host's functions as it finds those of a real MPI.
/// It has objects (types, communicators, info, windows, requests) and no messages. Further ranks of
/// a communicator are scripted: see make_communicator(). A call of a function that no test needs
/// ends the process with a sentence (without_mpi_h.cpp).
namespace oriel::test {

/// The arguments of a derived datatype, as MPI_Type_get_contents_c tells them.
struct FakeType {
  int combiner = MPI_COMBINER_DUP;
  std::vector<int> integers{};
  std::vector<MPI_Aint> addresses{};
  std::vector<MPI_Count> counts{};  // not empty: made by a large-count call
  std::vector<MPI_Datatype> types{};
  MPI_Aint extent = 0;
  bool committed = true;
};

/// The class of an error that a call returned.
inline int class_of(int code) {
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(code, &error_class);
  return error_class;
}

MPI_Datatype make_type(FakeType type);
/// References to derived types that have not been freed.
int live_types();

/// A request of the host's own. It is complete when complete_request() has been called.
MPI_Request make_request(bool persistent = false);
void complete_request(MPI_Request request, int tag = 0, int error = MPI_SUCCESS);
/// True if the host knows the handle: it has not been freed.
bool has_request(MPI_Request request);

/// The errors for which error handlers have been called since the last clear_errors().
struct RaisedError {
  int error_class = MPI_SUCCESS;
  std::string text;
};
const std::vector<RaisedError>& raised_errors();
void clear_errors();

/// The numbers of calls of the host's collectives.
struct CollectiveCounts {
  int allgather = 0;
  int allreduce = 0;
  int barrier = 0;
  int bcast = 0;
  int comm_create = 0;
  bool operator==(const CollectiveCounts&) const = default;
};
const CollectiveCounts& collective_counts();

/// Groups that have not been freed.
int live_groups();

/// A communicator of `size` ranks, of which this process is rank 0. In its collectives `peer` has
/// the result after this process's part has been copied to all ranks' places, and puts there what
/// the others say.
using Peer = std::function<void(const char* collective, void* result, std::size_t bytes)>;
MPI_Comm make_communicator(int size, Peer peer = {});

/// Lets the MPI layer's progress hook, if there is one, take a turn.
void make_progress();

/// MPI_T of the fake host: the numbers of variables of each kind and of categories, whose names end
/// with their indices: cvar_0, pvar_0, category_0. Each category lists all of them. Handles and
/// sessions are addresses of nothing.
struct FakeTools {
  int cvars = 3;
  int pvars = 2;
  int categories = 2;
  MPI_T_pvar_handle started = MPI_T_PVAR_HANDLE_NULL;  // last
};
FakeTools& fake_tools();

}  // namespace oriel::test
