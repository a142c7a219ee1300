// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file datatype.hpp
 * The MPI datatype of a C++ type. Included by oriel.hpp.
 */
#pragma once

#include <mpi.h>

#include <complex>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace oriel {

/**
 * The MPI datatype of T: get() returns it. Defined here for arithmetic types, std::complex and
 * std::byte. A program specializes it for a trivially copyable type of its own; the datatype must
 * have the extent sizeof(T) and be committed before its first use:
 *
 *     template <> struct oriel::datatype<particle> {
 *       static MPI_Datatype get() noexcept { return particle_datatype; }
 *     };
 *
 * get() is called by every operation. Local; does not block.
 */
template <class T>
struct datatype;

#define ORIEL_CPP_DATATYPE(type, mpi_datatype) \
  template <>                                  \
  struct datatype<type> {                      \
    static MPI_Datatype get() noexcept {       \
      return mpi_datatype;                     \
    }                                          \
  }
ORIEL_CPP_DATATYPE(char, MPI_CHAR);
ORIEL_CPP_DATATYPE(signed char, MPI_SIGNED_CHAR);
ORIEL_CPP_DATATYPE(unsigned char, MPI_UNSIGNED_CHAR);
ORIEL_CPP_DATATYPE(short, MPI_SHORT);
ORIEL_CPP_DATATYPE(unsigned short, MPI_UNSIGNED_SHORT);
ORIEL_CPP_DATATYPE(int, MPI_INT);
ORIEL_CPP_DATATYPE(unsigned, MPI_UNSIGNED);
ORIEL_CPP_DATATYPE(long, MPI_LONG);
ORIEL_CPP_DATATYPE(unsigned long, MPI_UNSIGNED_LONG);
ORIEL_CPP_DATATYPE(long long, MPI_LONG_LONG);
ORIEL_CPP_DATATYPE(unsigned long long, MPI_UNSIGNED_LONG_LONG);
ORIEL_CPP_DATATYPE(float, MPI_FLOAT);
ORIEL_CPP_DATATYPE(double, MPI_DOUBLE);
ORIEL_CPP_DATATYPE(long double, MPI_LONG_DOUBLE);
ORIEL_CPP_DATATYPE(wchar_t, MPI_WCHAR);
ORIEL_CPP_DATATYPE(char8_t, MPI_UINT8_T);
ORIEL_CPP_DATATYPE(char16_t, MPI_UINT16_T);
ORIEL_CPP_DATATYPE(char32_t, MPI_UINT32_T);
ORIEL_CPP_DATATYPE(bool, MPI_CXX_BOOL);
ORIEL_CPP_DATATYPE(std::byte, MPI_BYTE);
ORIEL_CPP_DATATYPE(std::complex<float>, MPI_CXX_FLOAT_COMPLEX);
ORIEL_CPP_DATATYPE(std::complex<double>, MPI_CXX_DOUBLE_COMPLEX);
ORIEL_CPP_DATATYPE(std::complex<long double>, MPI_CXX_LONG_DOUBLE_COMPLEX);
#undef ORIEL_CPP_DATATYPE

/** A type that a window may have: trivially copyable, with a datatype. */
template <class T>
concept element = std::is_trivially_copyable_v<T> && requires {
  { datatype<T>::get() } -> std::convertible_to<MPI_Datatype>;
};

}  // namespace oriel
