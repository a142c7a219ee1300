// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// How the elements of an operation lie at the target; at the origin they are contiguous. `stride`
// is the distance of two elements, in elements; `count` and `datatype` are the target's arguments.
namespace micro {

template <typename Element>
MPI_Datatype datatype_of() {
  if constexpr (std::is_same_v<Element, double>) return MPI_DOUBLE;
  static_assert(std::is_same_v<Element, double> || std::is_same_v<Element, std::int64_t>);
  return MPI_INT64_T;
}

template <typename Element>
class Contiguous {
 public:
  static constexpr std::size_t stride = 1;
  explicit Contiguous(std::size_t elements) : count_(static_cast<int>(elements)) {}

  int count() const { return count_; }
  MPI_Datatype datatype() const { return datatype_of<Element>(); }

 private:
  int count_;
};

/// One MPI_Type_vector: every second element.
template <typename Element>
class Vector {
 public:
  static constexpr std::size_t stride = 2;
  explicit Vector(std::size_t elements) {
    MPI_Type_vector(static_cast<int>(elements), 1, stride, datatype_of<Element>(), &datatype_);
    MPI_Type_commit(&datatype_);
  }
  ~Vector() { MPI_Type_free(&datatype_); }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;

  int count() const { return 1; }
  MPI_Datatype datatype() const { return datatype_; }

 private:
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
};

}  // namespace micro
