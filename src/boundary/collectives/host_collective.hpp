// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "boundary/collectives/alltoallv_arguments.hpp"
#include "boundary/collectives/collective_state.hpp"
#include "boundary/collectives/collective_task.hpp"
#include "boundary/host/host.hpp"

namespace oriel::boundary {

// The host's own alltoallv.

/// Whether the host has a persistent one. With large counts, if they are asked for.
bool host_has_alltoallv_init(bool large);
/// Whether the one that it has can be used: else the nonblocking one is.
bool host_alltoallv_init_works();
/// Whether what is used takes these counts.
bool host_takes(const AlltoallvArguments& arguments);
/// The host's persistent one, with a request of the host's: Oriel is disabled.
int host_alltoallv_init(const char* call, const AlltoallvArguments& arguments,
                        MPI_Comm communicator, MPI_Info info, MPI_Request* request);

/// A task around the host's persistent one, or where there is none to use, around the
/// nonblocking one. The program does not get the host's request itself: MPICH's tests fail on
/// inactive ones and end them by a look, and Open MPI uses datatypes that the program has freed.
/// On the program's communicator, or where that will not do (it is freed too early for the host, or
/// out of step), on a duplicate that is `idle` on all ranks. What the host finds wrong it says on
/// one rank alone: all raise it. Without the process lock.
int make_host_collective(const char* call, const AlltoallvArguments& arguments,
                         const std::shared_ptr<CollectiveState>& state, std::uint64_t idle,
                         MPI_Info info, std::unique_ptr<CollectiveTask>& task);

}  // namespace oriel::boundary
