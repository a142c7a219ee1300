// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mpi/host/host.hpp"

namespace oriel::mpi {

// One check of requests, some of which may be persistent requests of Oriel's: the host's calls of
// these names, without a sweep. All waits are made of these.

int test(MPI_Request* request, int* flag, MPI_Status* status);
int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status);
int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses);
int test_some(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses);
int get_status(MPI_Request request, int* flag, MPI_Status* status);
#if ORIEL_HOST_STATUS_OF_MANY
int get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                   MPI_Status* status);
int get_status_some(int count, const MPI_Request* requests, int* done, int* indices,
                    MPI_Status* statuses);
int get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses);
#endif

/// True if any of these requests is Oriel's.
bool any_of_ours(int count, const MPI_Request* requests);

}  // namespace oriel::mpi
