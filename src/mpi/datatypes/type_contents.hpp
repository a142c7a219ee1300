// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/host/host.hpp"

namespace oriel::mpi {

struct SubarrayContents {
  std::vector<std::int64_t> sizes, subsizes, starts;
  bool fortran_order = false;
};

struct DarrayContents {
  std::int64_t rank = 0;
  std::vector<std::int64_t> global_sizes, distributions, distribution_arguments, process_sizes;
  bool fortran_order = false;
};

/// The arguments of a datatype's constructor. MPI returns them in different arrays for plain and
/// for large-count constructors. The destructor frees the derived datatypes among them.
class TypeContents {
 public:
  TypeContents() = default;
  ~TypeContents();
  TypeContents(const TypeContents&) = delete;
  TypeContents& operator=(const TypeContents&) = delete;

  bool read(MPI_Datatype type);
  bool predefined() const;
  int combiner() const { return combiner_; }
  const std::vector<MPI_Datatype>& types() const { return types_; }

  /// Counts and displacements in elements, in the order of the call's arguments.
  std::int64_t numbers() const {
    return static_cast<std::int64_t>(large() ? large_.size() : integers_.size());
  }
  std::int64_t number(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return large() ? large_[at] : integers_[at];
  }
  /// Displacements in bytes. `behind`: the number of counts before them, if both share an array.
  std::int64_t address(std::int64_t i, std::int64_t behind) const {
    return large() ? large_[static_cast<std::size_t>(behind + i)]
                   : addresses_[static_cast<std::size_t>(i)];
  }
  SubarrayContents subarray() const;
  DarrayContents darray() const;

 private:
  bool large() const { return !large_.empty(); }

  int combiner_ = MPI_COMBINER_NAMED;
  std::vector<int> integers_;
  std::vector<std::int64_t> addresses_;
  std::vector<std::int64_t> large_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace oriel::mpi
