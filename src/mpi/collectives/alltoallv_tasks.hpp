// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/collective/schedule.hpp"
#include "mpi/collectives/agreement.hpp"
#include "mpi/collectives/alltoallv_arguments.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/collective_state.hpp"
#include "mpi/collectives/receive_windows.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

// The tasks that carry out an alltoallv without a plan: the host, or puts into a window.

/// Makes a task by puts into a window on the receive buffers. `theirs`: the other ranks' offers,
/// with the offsets in their windows for this rank's blocks; `far_first`: puts to other nodes are
/// issued before puts on the node.
std::unique_ptr<CollectiveTask> make_window_collective(std::shared_ptr<CollectiveState> state,
                                                       ReceiveWindow& window, Schedule schedule,
                                                       const ReceiveArea& area,
                                                       const std::vector<Offer>& theirs,
                                                       bool far_first);

// The host's own MPI_Alltoallv_init and MPI_Ialltoallv.

/// Returns whether the host has MPI_Alltoallv_init, or MPI_Alltoallv_init_c if `large`.
bool host_has_alltoallv_init(bool large);
/// Returns whether the host's MPI_Alltoallv_init can be used; otherwise MPI_Ialltoallv is.
bool host_alltoallv_init_works();
/// Returns whether the host's function that is used accepts these counts.
bool host_accepts(const AlltoallvArguments& arguments);
/// Calls the host's MPI_Alltoallv_init, which makes a request of the host's. For a disabled Oriel.
int host_alltoallv_init(const char* call, const AlltoallvArguments& arguments,
                        MPI_Comm communicator, MPI_Info info, MPI_Request* request);

/// Makes a task around the host's MPI_Alltoallv_init or, if that cannot be used, MPI_Ialltoallv.
/// The program does not get the host's request itself: MPICH's MPI_Test fails on an inactive one,
/// its MPI_Request_get_status ends a request, and Open MPI uses datatypes that the program has
/// freed.
///
/// The task uses the program's communicator. If that is not possible (the program may free it while
/// the host still needs it, or it is out of step), the task uses a duplicate that is idle on all
/// ranks, or a new one; `idle`: see CollectiveState::acquire_duplicate(). The host may report an
/// error on one rank only; all ranks then raise it. Without the process lock.
int make_host_collective(const char* call, const AlltoallvArguments& arguments,
                         const std::shared_ptr<CollectiveState>& state, std::uint64_t idle,
                         MPI_Info info, std::unique_ptr<CollectiveTask>& task);

}  // namespace oriel::mpi
