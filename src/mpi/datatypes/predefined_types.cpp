// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/datatypes/predefined_types.hpp"

#include <array>
#include <cfloat>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

#include "core/operation/reduction.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/host_library.hpp"
#include "mpi/host/host_mpi.hpp"

// Fortran types that are optional in MPI: null if mpi.h does not define them.
#ifndef MPI_INTEGER16
#define MPI_INTEGER16 MPI_DATATYPE_NULL
#endif
#ifndef MPI_REAL2
#define MPI_REAL2 MPI_DATATYPE_NULL
#endif
#ifndef MPI_REAL16
#define MPI_REAL16 MPI_DATATYPE_NULL
#endif
#ifndef MPI_COMPLEX4
#define MPI_COMPLEX4 MPI_DATATYPE_NULL
#endif
#ifndef MPI_COMPLEX32
#define MPI_COMPLEX32 MPI_DATATYPE_NULL
#endif
#ifndef MPI_LOGICAL1
#define MPI_LOGICAL1 MPI_DATATYPE_NULL
#endif
#ifndef MPI_LOGICAL2
#define MPI_LOGICAL2 MPI_DATATYPE_NULL
#endif
#ifndef MPI_LOGICAL4
#define MPI_LOGICAL4 MPI_DATATYPE_NULL
#endif
#ifndef MPI_LOGICAL8
#define MPI_LOGICAL8 MPI_DATATYPE_NULL
#endif

namespace oriel::mpi {
namespace {

/// The type of a list that has this size in bytes.
Basic find_size(std::uint32_t size, std::initializer_list<std::pair<std::uint32_t, Basic>> types) {
  for (const auto& [bytes, basic] : types) {
    if (bytes == size) return basic;
  }
  return Basic::other;
}

// The core's types of `size` bytes.

Basic signed_of(std::uint32_t size) {
  return find_size(
      size, {{1, Basic::i8}, {2, Basic::i16}, {4, Basic::i32}, {8, Basic::i64}, {16, Basic::i128}});
}

Basic unsigned_of(std::uint32_t size) {
  return find_size(size, {{1, Basic::u8}, {2, Basic::u16}, {4, Basic::u32}, {8, Basic::u64}});
}

Basic real_of(std::uint32_t size) {
  return find_size(size, {{2, Basic::f16}, {4, Basic::f32}, {8, Basic::f64}, {16, Basic::f128}});
}

Basic complex_of(std::uint32_t size) {
  return find_size(size, {{4, Basic::complex_f16},
                          {8, Basic::complex_f32},
                          {16, Basic::complex_f64},
                          {32, Basic::complex_f128}});
}

/// C's long double. Fortran's real of the same size has another format.
Basic long_double_of(std::uint32_t size) {
  return find_size(size, {{sizeof(long double), Basic::long_double}});
}

Basic complex_long_double_of(std::uint32_t size) {
  return find_size(size, {{2 * sizeof(long double), Basic::complex_long_double}});
}

Basic opaque_of(std::uint32_t) {
  return Basic::other;
}

/// True if the host aborts on inquiries about a type that only a later version has. This is
/// compiled with the mpi.h of MPICH 5, which has Fortran's logicals of a given size; MPICH before 5
/// and the MPIs that are made from it do not have them. Intel MPI has them, although it reports an
/// earlier version of MPI.
bool aborts_on_newer_types() {
#ifdef MPICH_VERSION
  return find_host_symbol("PMPI_Abi_get_version") == nullptr &&
         library_version().find("Intel(R) MPI") == std::string::npos;
#else
  return false;
#endif
}

}  // namespace

void PredefinedTypes::start(const std::function<bool(MPI_Datatype)>& usable) {
  if (!types_.empty()) return;
  // Returns null if the host does not have the type, for example without Fortran.
  const auto add_if_usable = [&](TypeClass type_class, MPI_Datatype handle) -> PredefinedType* {
    const bool there = handle != MPI_Datatype{} && handle != MPI_DATATYPE_NULL;
    return there && usable(handle) ? add(handle, type_class) : nullptr;
  };
  using BasicOf = Basic(std::uint32_t size);
  const auto add_all = [&](TypeClass type_class, BasicOf basic_of,
                           std::initializer_list<MPI_Datatype> handles) {
    for (const MPI_Datatype handle : handles) {
      PredefinedType* type = add_if_usable(type_class, handle);
      if (type != nullptr) type->basic = basic_of(type->size);
    }
  };
  using enum TypeClass;
  add_all(integer, signed_of,
          {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T,
           MPI_INT32_T, MPI_INT64_T});
  add_all(integer, unsigned_of,
          {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
           MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T});
  add_all(integer, signed_of, {MPI_AINT, MPI_OFFSET, MPI_COUNT});
  add_all(integer, signed_of,
          {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16});
  add_all(integer, std::is_signed_v<char> ? signed_of : unsigned_of, {MPI_CHAR});
  add_all(integer,
          std::is_signed_v<char> && !ORIEL_HOST_UNSIGNED_CHARACTER ? signed_of : unsigned_of,
          {MPI_CHARACTER});
  add_all(floating, real_of,
          {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL2, MPI_REAL4, MPI_REAL8,
           MPI_REAL16});
  add_all(floating, long_double_of, {MPI_LONG_DOUBLE});
  // The kernels' logical ops yield 0 and 1, which C and Fortran compilers both take for false and
  // true.
  add_all(logical, unsigned_of, {MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL});
  if (!aborts_on_newer_types()) {
    add_all(logical, unsigned_of, {MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8});
  }
  add_all(
      complex, complex_of,
      {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX,
       MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32});
  add_all(complex, complex_long_double_of,
          {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX});
  add_all(byte, unsigned_of, {MPI_BYTE});
  add_all(opaque, opaque_of, {MPI_WCHAR, MPI_PACKED});
  for (const auto& [handle, basic] : std::initializer_list<std::pair<MPI_Datatype, Basic>>{
           {MPI_SHORT_INT, Basic::short_int},
           {MPI_2INT, Basic::int_int},
           {MPI_2INTEGER, Basic::int_int},
           {MPI_LONG_INT, Basic::long_int},
           {MPI_FLOAT_INT, Basic::f32_int},
           {MPI_DOUBLE_INT, Basic::f64_int},
           {MPI_LONG_DOUBLE_INT, Basic::long_double_int},
           {MPI_2REAL, Basic::f32_f32},
           {MPI_2DOUBLE_PRECISION, Basic::f64_f64}}) {
    PredefinedType* type = add_if_usable(pair, handle);
    // Compiler options may make Fortran's types wider than C's.
    if (type != nullptr && bytes_of(basic) == type->true_extent) type->basic = basic;
  }
}

PredefinedType* PredefinedTypes::add(MPI_Datatype handle, TypeClass type_class) {
  int size = 0;
  if (host_mpi().Type_size(handle, &size) != MPI_SUCCESS || size <= 0) return nullptr;
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  PredefinedType type;
  type.handle = handle;
  type.type_class = type_class;
  type.size = static_cast<std::uint32_t>(size);
  host_mpi().Type_get_true_extent(handle, &low, &extent);
  type.true_extent = static_cast<std::uint32_t>(extent);
  host_mpi().Type_get_extent(handle, &low, &extent);
  type.extent = extent;
  return &types_.emplace_back(type);
}

MPI_Datatype PredefinedTypes::of_f90(MPI_Datatype type, int combiner) const {
  int bytes = 0;
  host_mpi().Type_size(type, &bytes);
  const auto size = static_cast<std::uint32_t>(bytes);
  // The arguments of the type's constructor: precision and range of a real, range of an integer.
  std::array<int, 2> asked{};
  MPI_Aint no_address = 0;
  MPI_Datatype no_type = MPI_DATATYPE_NULL;
  host_mpi().Type_get_contents(type, 2, 0, 0, asked.data(), &no_address, &no_type);
  // Two formats of real have 16 bytes.
  const bool quadruple = asked[0] != MPI_UNDEFINED && asked[0] > LDBL_DIG;
  TypeClass type_class = TypeClass::integer;
  Basic basic = signed_of(size);
  if (combiner == MPI_COMBINER_F90_REAL) {
    type_class = TypeClass::floating;
    basic = size == sizeof(long double) && !quadruple ? long_double_of(size) : real_of(size);
  } else if (combiner == MPI_COMBINER_F90_COMPLEX) {
    type_class = TypeClass::complex;
    basic = size == 2 * sizeof(long double) && !quadruple ? complex_long_double_of(size)
                                                          : complex_of(size);
  }
  for (const PredefinedType& candidate : types_) {
    if (candidate.type_class == type_class && candidate.basic == basic && candidate.size == size) {
      return candidate.handle;
    }
  }
  return MPI_DATATYPE_NULL;
}

}  // namespace oriel::mpi
