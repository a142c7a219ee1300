// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary {

// One look at requests, some of which may be persistent ones of ours: what the host's calls of
// these names do, without a sweep. Everything that waits is made of them.

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

/// Whether any of these requests is ours.
bool any_of_ours(int count, const MPI_Request* requests);

}  // namespace oriel::boundary
