// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "core/operation/reduction.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The groups of predefined types by which MPI-4.1 section 6.9.2 defines which op takes which
/// type. MPI_CHAR and MPI_CHARACTER are in none of them; every host reduces them as small integers,
/// and programs rely on it. No op takes an opaque type.
enum class TypeClass : std::uint8_t { integer, floating, logical, complex, byte, opaque, pair };

struct PredefinedType {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  TypeClass type_class = TypeClass::byte;
  Basic basic = Basic::other;
  std::uint32_t size = 0;         // bytes of data
  std::uint32_t true_extent = 0;  // bytes from the first to the last, gaps of pair types included
  std::int64_t extent = 0;
};

/// The predefined types of the host.
class PredefinedTypes {
 public:
  /// `usable` returns whether the host has the type: its header may name types that it lacks.
  void start(const std::function<bool(MPI_Datatype)>& usable);
  const std::deque<PredefinedType>& all() const { return types_; }
  /// Adds a predefined type of the host's that the standard does not have. It can be moved and
  /// replaced, but no other op takes it. Null if it has no bytes.
  const PredefinedType* add_unknown(MPI_Datatype handle) { return add(handle, TypeClass::opaque); }
  /// The predefined type with the format of a type made by MPI_Type_create_f90_real or a
  /// similar call; MPI_DATATYPE_NULL: none.
  MPI_Datatype of_f90(MPI_Datatype type, int combiner) const;

 private:
  PredefinedType* add(MPI_Datatype handle, TypeClass type_class);

  std::deque<PredefinedType> types_;  // a deque, because others have their addresses
};

}  // namespace oriel::mpi
