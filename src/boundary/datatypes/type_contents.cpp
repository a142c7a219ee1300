// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/datatypes/type_contents.hpp"

#include <iterator>

#include "boundary/datatypes/host_type_contents.hpp"
#include "boundary/host/host_mpi.hpp"

namespace oriel::boundary {
namespace {

/// Reads numbers from the front of an array of arguments.
class Taker {
 public:
  explicit Taker(std::vector<std::int64_t> numbers) : numbers_(std::move(numbers)) {}
  std::int64_t one() { return numbers_[at_++]; }
  std::vector<std::int64_t> many(std::int64_t count) {
    const auto first = numbers_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ += static_cast<std::size_t>(count);
    return {first, first + count};
  }

 private:
  std::vector<std::int64_t> numbers_;
  std::size_t at_ = 0;
};

bool is_derived(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  HostContents::envelope(type, integers, addresses, types, combiner);
  return combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
         combiner != MPI_COMBINER_F90_COMPLEX && combiner != MPI_COMBINER_F90_INTEGER;
}

}  // namespace

TypeContents::~TypeContents() {
  for (MPI_Datatype& type : types_) {
    if (is_derived(type)) host_mpi().Type_free(&type);
  }
}

bool TypeContents::predefined() const {
  return combiner_ == MPI_COMBINER_NAMED || combiner_ == MPI_COMBINER_F90_REAL ||
         combiner_ == MPI_COMBINER_F90_COMPLEX || combiner_ == MPI_COMBINER_F90_INTEGER;
}

bool TypeContents::read(MPI_Datatype type) {
  return HostContents::read(type, combiner_, integers_, addresses_, large_, types_);
}

SubarrayContents TypeContents::subarray() const {
  Taker integers({integers_.begin(), integers_.end()});
  SubarrayContents array;
  const std::int64_t dimensions = integers.one();
  Taker counts = large() ? Taker(large_) : integers;
  array.sizes = counts.many(dimensions);
  array.subsizes = counts.many(dimensions);
  array.starts = counts.many(dimensions);
  array.fortran_order = (large() ? integers : counts).one() == MPI_ORDER_FORTRAN;
  return array;
}

DarrayContents TypeContents::darray() const {
  Taker integers({integers_.begin(), integers_.end()});
  DarrayContents array;
  integers.one();  // the size of the process grid follows from its dimensions
  array.rank = integers.one();
  const std::int64_t dimensions = integers.one();
  array.global_sizes = large() ? large_ : integers.many(dimensions);
  array.distributions = integers.many(dimensions);
  array.distribution_arguments = integers.many(dimensions);
  array.process_sizes = integers.many(dimensions);
  array.fortran_order = integers.one() == MPI_ORDER_FORTRAN;
  return array;
}

}  // namespace oriel::boundary
