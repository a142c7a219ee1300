// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/datatypes/type_contents.hpp"

#include <cstdint>
#include <iterator>
#include <vector>

#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {
namespace {

/// Envelope and contents of a datatype, by the large-count calls where the host has them: the plain
/// ones refuse datatypes that were made by large-count constructors.
#if ORIEL_HOST_LARGE_COUNTS
struct HostContents {
  static bool envelope(MPI_Datatype type, int& integers, int& addresses, int& types,
                       int& combiner) {
    MPI_Count counts[4] = {};
    const int code =
        PMPI_Type_get_envelope_c(type, &counts[0], &counts[1], &counts[2], &counts[3], &combiner);
    integers = static_cast<int>(counts[0]);
    addresses = static_cast<int>(counts[1]);
    types = static_cast<int>(counts[3]);
    return code == MPI_SUCCESS;
  }
  static bool read(MPI_Datatype type, int& combiner, std::vector<int>& integers,
                   std::vector<std::int64_t>& addresses, std::vector<std::int64_t>& large,
                   std::vector<MPI_Datatype>& types) {
    MPI_Count counts[4] = {};
    if (PMPI_Type_get_envelope_c(type, &counts[0], &counts[1], &counts[2], &counts[3], &combiner) !=
        MPI_SUCCESS) {
      return false;
    }
    if (combiner == MPI_COMBINER_NAMED || counts[3] == 0) return true;
    integers.resize(static_cast<std::size_t>(counts[0]));
    std::vector<MPI_Aint> aints(static_cast<std::size_t>(counts[1]));
    std::vector<MPI_Count> larges(static_cast<std::size_t>(counts[2]));
    std::vector<MPI_Datatype> inner(static_cast<std::size_t>(counts[3]));
    if (PMPI_Type_get_contents_c(type, counts[0], counts[1], counts[2], counts[3],
                                 host_list(integers), host_list(aints), host_list(larges),
                                 host_list(inner)) != MPI_SUCCESS) {
      return false;
    }
    addresses.assign(aints.begin(), aints.end());
    large.assign(larges.begin(), larges.end());
    types = std::move(inner);
    return true;
  }
};
#else
struct HostContents {
  static bool envelope(MPI_Datatype type, int& integers, int& addresses, int& types,
                       int& combiner) {
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS;
  }
  static bool read(MPI_Datatype type, int& combiner, std::vector<int>& integers,
                   std::vector<std::int64_t>& addresses, std::vector<std::int64_t>&,
                   std::vector<MPI_Datatype>& types) {
    int counts[3] = {};
    if (!envelope(type, counts[0], counts[1], counts[2], combiner)) return false;
    if (combiner == MPI_COMBINER_NAMED || counts[2] == 0) return true;
    integers.resize(static_cast<std::size_t>(counts[0]));
    std::vector<MPI_Aint> aints(static_cast<std::size_t>(counts[1]));
    std::vector<MPI_Datatype> inner(static_cast<std::size_t>(counts[2]));
    if (PMPI_Type_get_contents(type, counts[0], counts[1], counts[2], host_list(integers),
                               host_list(aints), host_list(inner)) != MPI_SUCCESS) {
      return false;
    }
    addresses.assign(aints.begin(), aints.end());
    types = std::move(inner);
    return true;
  }
};
#endif

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

}  // namespace oriel::mpi
