// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/operation/operation.hpp"
#include "mpi/datatypes/predefined_types.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The reduction that an accumulate or compare-and-swap applies to each element of a datatype made
/// of the predefined type `basic`; null: of several types. Fails with MPI_ERR_OP or MPI_ERR_TYPE if
/// the call does not permit the op or the datatype (MPI-4.1 section 12.3.4).
Failure reduction_of(OperationKind kind, MPI_Op op, const PredefinedType* basic,
                     Reduction& reduction);

/// True for the predefined ops of MPI_Reduce.
bool predefined(MPI_Op op);
/// True if MPI-4.1 section 6.9.2 defines the op for the type. Hosts' collectives permit no more
/// than that, even if their windows do: see reduction_of().
bool has_reduction(MPI_Op op, const PredefinedType& type);

}  // namespace oriel::mpi
