// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/operation/layout.hpp"
#include "mpi/datatypes/predefined_types.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// One element of a datatype as blocks of bytes in typemap order, adjacent ones merged.
struct Flat {
  std::vector<Block> blocks;
  std::int64_t extent = 0;
  const PredefinedType* basic = nullptr;
  bool mixed = false;  // made of more than one predefined type
};

/// Returns the layout of a predefined type. It is called for the leaves of a datatype's tree, with
/// their combiners, because MPI_Type_create_f90_real and similar calls make types that no table can
/// list.
using FlattenLeaf = std::function<Flat(MPI_Datatype, int combiner)>;

/// Flattens a datatype by its contents (MPI-4.1 section 5.1.13). False if the host does not return
/// them.
bool flatten(MPI_Datatype type, const FlattenLeaf& leaf, Flat& flat);

}  // namespace oriel::mpi
