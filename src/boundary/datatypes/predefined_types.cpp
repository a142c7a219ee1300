// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/datatypes/predefined_types.hpp"

#include <type_traits>

#include "boundary/host/host_types.hpp"

namespace oriel::boundary {
namespace {

Basic integer_of(std::uint32_t size, bool has_sign) {
  switch (size) {
    case 1:
      return has_sign ? Basic::i8 : Basic::u8;
    case 2:
      return has_sign ? Basic::i16 : Basic::u16;
    case 4:
      return has_sign ? Basic::i32 : Basic::u32;
    case 8:
      return has_sign ? Basic::i64 : Basic::u64;
    default:
      return Basic::other;
  }
}

Basic floating_of(std::uint32_t size) {
  return size == 4 ? Basic::f32 : size == 8 ? Basic::f64 : Basic::other;
}

}  // namespace

void PredefinedTypes::start(const std::function<bool(MPI_Datatype)>& usable) {
  if (!types_.empty()) return;
  const auto add = [&](TypeClass type_class, bool has_sign, MPI_Datatype handle,
                       bool multi_language = false) {
    PredefinedType type;
    type.type_class = type_class;
    type.multi_language = multi_language;
    type.code = types_.size();
    int size = 0;
    if (handle != MPI_DATATYPE_NULL && usable(handle) &&
        PMPI_Type_size(handle, &size) == MPI_SUCCESS && size > 0) {
      MPI_Aint low = 0;
      MPI_Aint extent = 0;
      type.handle = handle;
      type.size = static_cast<std::uint32_t>(size);
      PMPI_Type_get_true_extent(handle, &low, &extent);
      type.true_extent = static_cast<std::uint32_t>(extent);
      PMPI_Type_get_extent(handle, &low, &extent);
      type.extent = extent;
      if (type_class == TypeClass::integer) type.basic = integer_of(type.size, has_sign);
      if (type_class == TypeClass::floating) type.basic = floating_of(type.size);
      // The kernels' logical ops yield 0 and 1, which is what C's bool holds; Fortran's may differ.
      if (type_class == TypeClass::byte || handle == MPI_C_BOOL)
        type.basic = integer_of(type.size, false);
    }
    types_.push_back(type);
  };
  using enum TypeClass;
  for (MPI_Datatype type : {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG,
                            MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T}) {
    add(integer, true, type);
  }
  for (MPI_Datatype type :
       {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
        MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T}) {
    add(integer, false, type);
  }
  for (MPI_Datatype type : {MPI_AINT, MPI_OFFSET, MPI_COUNT}) add(integer, true, type, true);
  for (MPI_Datatype type :
       {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16}) {
    add(integer, true, type);
  }
  for (MPI_Datatype type : {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION,
                            MPI_REAL2, MPI_REAL4, MPI_REAL8, MPI_REAL16}) {
    add(floating, true, type);
  }
  for (MPI_Datatype type : {MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL, MPI_LOGICAL1, MPI_LOGICAL2,
                            MPI_LOGICAL4, MPI_LOGICAL8})
    add(logical, false, type);
  for (MPI_Datatype type :
       {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
        MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX,
        MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32}) {
    add(complex, true, type);
  }
  add(byte, false, MPI_BYTE);
  add(integer, std::is_signed_v<char>, MPI_CHAR);
  add(integer, std::is_signed_v<char> && !ORIEL_HOST_UNSIGNED_CHARACTER, MPI_CHARACTER);
  for (MPI_Datatype type : {MPI_WCHAR, MPI_PACKED}) add(opaque, false, type);
  for (MPI_Datatype type : {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT,
                            MPI_LONG_DOUBLE_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER}) {
    add(pair, true, type);
  }
}

MPI_Datatype PredefinedTypes::of_f90(MPI_Datatype type, int combiner) const {
  const TypeClass type_class = combiner == MPI_COMBINER_F90_REAL      ? TypeClass::floating
                               : combiner == MPI_COMBINER_F90_COMPLEX ? TypeClass::complex
                                                                      : TypeClass::integer;
  int size = 0;
  PMPI_Type_size(type, &size);
  for (const PredefinedType& candidate : types_) {
    if (candidate.handle != MPI_DATATYPE_NULL && candidate.type_class == type_class &&
        candidate.size == static_cast<std::uint32_t>(size)) {
      return candidate.handle;
    }
  }
  return MPI_DATATYPE_NULL;
}

}  // namespace oriel::boundary
