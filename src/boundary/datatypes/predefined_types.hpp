// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "boundary/host/host.hpp"
#include "core/operation/reduction.hpp"

namespace oriel::boundary {

/// The groups of predefined types that MPI-4.1 section 6.9.2 names to say which op takes which
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

/// All that the host has.
class PredefinedTypes {
 public:
  /// `usable`: the host has the type. Its header may name some that it lacks.
  void start(const std::function<bool(MPI_Datatype)>& usable);
  const std::deque<PredefinedType>& all() const { return types_; }
  /// A type that a host has beyond the standard's: it is moved and replaced, no op combines it.
  /// Null if it holds nothing.
  const PredefinedType* add_unknown(MPI_Datatype handle) { return add(handle, TypeClass::opaque); }
  /// The one that a type made by MPI_Type_create_f90_real and its siblings stands for; null if
  /// none.
  MPI_Datatype of_f90(MPI_Datatype type, int combiner) const;

 private:
  PredefinedType* add(MPI_Datatype handle, TypeClass type_class);

  std::deque<PredefinedType> types_;  // named by address
};

}  // namespace oriel::boundary
