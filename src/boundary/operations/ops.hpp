// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/datatypes/predefined_types.hpp"
#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"
#include "core/operation/operation.hpp"

namespace oriel::boundary {

/// What an accumulate or compare-and-swap does to each element of a datatype that is made of the
/// predefined `type`; null: of several. Fails with MPI_ERR_OP or MPI_ERR_TYPE where the call does
/// not take the op or the datatype (MPI-4.1 section 12.3.4).
Failure reduction_of(OperationKind kind, MPI_Op op, const PredefinedType* basic,
                     Reduction& reduction);

/// Whether it is one of MPI_Reduce's predefined ops.
bool predefined(MPI_Op op);
/// Whether MPI-4.1 section 6.9.2 has such an op on the type. Hosts' collectives take no more than
/// that, where their windows do: see reduction_of().
bool has_reduction(MPI_Op op, const PredefinedType& type);

}  // namespace oriel::boundary
