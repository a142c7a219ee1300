// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"
#include "core/operation/operation.hpp"

namespace oriel::boundary {

/// What an accumulate or compare-and-swap does to each element of `type`. Fails with MPI_ERR_OP or
/// MPI_ERR_TYPE where the call does not take the op or the datatype (MPI-4.1 section 12.3.4).
Failure reduction_of(OperationKind kind, MPI_Op op, MPI_Datatype type, Reduction& reduction);

}  // namespace oriel::boundary
