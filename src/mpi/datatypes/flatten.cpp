// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/datatypes/flatten.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {
namespace {

/// The lengths of the arrays of a datatype's contents, and the kind of its constructor.
struct Envelope {
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count counts = 0;  // of large-count constructors
  MPI_Count types = 0;
  int combiner = MPI_COMBINER_NAMED;

  /// True for the types of MPI_Type_create_f90_real and similar calls, too.
  bool predefined() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }
};

/// The arrays of a datatype's contents.
struct ContentArrays {
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> counts;
  std::vector<MPI_Datatype> types;
};

// The large-count calls where the host has them: the plain ones refuse datatypes that were made by
// large-count constructors.

int read_envelope(MPI_Datatype type, Envelope& read) {
#if ORIEL_HOST_LARGE_COUNTS
  if (host_has(host_mpi().Type_get_envelope_c)) {
    return host_mpi().Type_get_envelope_c(type, &read.integers, &read.addresses, &read.counts,
                                          &read.types, &read.combiner);
  }
#endif
  int integers = 0;
  int addresses = 0;
  int types = 0;
  const int code =
      host_mpi().Type_get_envelope(type, &integers, &addresses, &types, &read.combiner);
  read.integers = integers;
  read.addresses = addresses;
  read.types = types;
  return code;
}

int read_arrays(MPI_Datatype type, const Envelope& of, ContentArrays& read) {
#if ORIEL_HOST_LARGE_COUNTS
  if (host_has(host_mpi().Type_get_contents_c)) {
    return host_mpi().Type_get_contents_c(type, of.integers, of.addresses, of.counts, of.types,
                                          host_list(read.integers), host_list(read.addresses),
                                          host_list(read.counts), host_list(read.types));
  }
#endif
  return host_mpi().Type_get_contents(type, static_cast<int>(of.integers),
                                      static_cast<int>(of.addresses), static_cast<int>(of.types),
                                      host_list(read.integers), host_list(read.addresses),
                                      host_list(read.types));
}

/// Reads numbers from the front of an array of arguments.
class NumberReader {
 public:
  template <typename Numbers>
  explicit NumberReader(const Numbers& numbers) : numbers_(numbers.begin(), numbers.end()) {}
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
  ~TypeContents() {
    for (MPI_Datatype& type : arrays_.types) {
      Envelope of_type;
      read_envelope(type, of_type);
      if (!of_type.predefined()) host_mpi().Type_free(&type);
    }
  }
  TypeContents(const TypeContents&) = delete;
  TypeContents& operator=(const TypeContents&) = delete;

  bool read(MPI_Datatype type) {
    if (read_envelope(type, envelope_) != MPI_SUCCESS) return false;
    if (envelope_.combiner == MPI_COMBINER_NAMED || envelope_.types == 0) return true;
    ContentArrays arrays{std::vector<int>(static_cast<std::size_t>(envelope_.integers)),
                         std::vector<MPI_Aint>(static_cast<std::size_t>(envelope_.addresses)),
                         std::vector<MPI_Count>(static_cast<std::size_t>(envelope_.counts)),
                         std::vector<MPI_Datatype>(static_cast<std::size_t>(envelope_.types))};
    if (read_arrays(type, envelope_, arrays) != MPI_SUCCESS) return false;
    arrays_ = std::move(arrays);
    return true;
  }
  bool predefined() const { return envelope_.predefined(); }
  int combiner() const { return envelope_.combiner; }
  const std::vector<MPI_Datatype>& types() const { return arrays_.types; }

  /// Counts and displacements in elements, in the order of the call's arguments.
  bool has_numbers() const { return large() || !arrays_.integers.empty(); }
  std::int64_t number(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return large() ? arrays_.counts[at] : arrays_.integers[at];
  }
  /// Displacements in bytes. `behind`: the number of counts before them, if both share an array.
  std::int64_t address(std::int64_t i, std::int64_t behind) const {
    return large() ? arrays_.counts[static_cast<std::size_t>(behind + i)]
                   : arrays_.addresses[static_cast<std::size_t>(i)];
  }

  SubarrayContents subarray() const {
    NumberReader integers(arrays_.integers);
    SubarrayContents array;
    const std::int64_t dimensions = integers.one();
    NumberReader counts = large() ? NumberReader(arrays_.counts) : integers;
    array.sizes = counts.many(dimensions);
    array.subsizes = counts.many(dimensions);
    array.starts = counts.many(dimensions);
    array.fortran_order = (large() ? integers : counts).one() == MPI_ORDER_FORTRAN;
    return array;
  }

  DarrayContents darray() const {
    NumberReader integers(arrays_.integers);
    DarrayContents array;
    integers.one();  // the size of the process grid follows from its dimensions
    array.rank = integers.one();
    const std::int64_t dimensions = integers.one();
    NumberReader counts(arrays_.counts);
    array.global_sizes = (large() ? counts : integers).many(dimensions);
    array.distributions = integers.many(dimensions);
    array.distribution_arguments = integers.many(dimensions);
    array.process_sizes = integers.many(dimensions);
    array.fortran_order = integers.one() == MPI_ORDER_FORTRAN;
    return array;
  }

 private:
  bool large() const { return !arrays_.counts.empty(); }

  Envelope envelope_;
  ContentArrays arrays_;
};

/// Appends elements of other datatypes to a Flat.
class Builder {
 public:
  explicit Builder(Flat& flat) : flat_(flat) {}

  /// `count` elements of `child`, the first at `offset`.
  void add(const Flat& child, std::int64_t offset, std::int64_t count) {
    if (count <= 0 || child.blocks.empty()) return;
    add_basic(child);
    const bool dense = child.blocks.size() == 1 &&
                       static_cast<std::int64_t>(child.blocks[0].length) == child.extent;
    if (dense) {
      append(offset + child.blocks[0].offset,
             child.blocks[0].length * static_cast<std::uint64_t>(count));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      for (const Block& block : child.blocks) {
        append(offset + i * child.extent + block.offset, block.length);
      }
    }
  }

 private:
  void append(std::int64_t offset, std::uint64_t length) {
    std::vector<Block>& blocks = flat_.blocks;
    if (!blocks.empty() &&
        blocks.back().offset + static_cast<std::int64_t>(blocks.back().length) == offset) {
      blocks.back().length += length;
    } else {
      blocks.push_back({offset, length});
    }
  }
  void add_basic(const Flat& child) {
    if (child.mixed || (flat_.basic != nullptr && flat_.basic != child.basic)) flat_.mixed = true;
    if (flat_.basic == nullptr) flat_.basic = child.basic;
  }

  Flat& flat_;
};

/// Adjacent indices of one dimension of an array.
struct IndexRun {
  std::int64_t first;
  std::int64_t length;
};

struct Dimension {
  std::int64_t size = 0;
  std::vector<IndexRun> runs;
};

/// Adds the elements of an array section in memory order: the last dimension varies fastest, and
/// its runs are added whole. `base`: the index of the row that the outer dimensions have chosen.
void add_section(Builder& builder, const Flat& child, const std::vector<Dimension>& dimensions,
                 std::size_t outermost = 0, std::int64_t base = 0) {
  const Dimension& dimension = dimensions[outermost];
  const bool innermost = outermost + 1 == dimensions.size();
  for (const IndexRun& run : dimension.runs) {
    const std::int64_t start = base * dimension.size + run.first;
    if (innermost) {
      builder.add(child, start * child.extent, run.length);
      continue;
    }
    for (std::int64_t i = 0; i < run.length; ++i) {
      add_section(builder, child, dimensions, outermost + 1, start + i);
    }
  }
}

void add_subarray(Builder& builder, const Flat& child, const SubarrayContents& array) {
  std::vector<Dimension> dimensions(array.sizes.size());
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    dimensions[d] = {array.sizes[d], {{array.starts[d], array.subsizes[d]}}};
  }
  if (array.fortran_order) std::reverse(dimensions.begin(), dimensions.end());
  add_section(builder, child, dimensions);
}

/// The runs of dimension `d` of a distributed array that belong to the process whose coordinate in
/// this dimension is `mine`.
Dimension distributed(const DarrayContents& array, std::size_t d, std::int64_t mine) {
  const std::int64_t size = array.global_sizes[d];
  const std::int64_t processes = array.process_sizes[d];
  const bool by_default = array.distribution_arguments[d] == MPI_DISTRIBUTE_DFLT_DARG;
  std::int64_t block = size;
  if (array.distributions[d] == MPI_DISTRIBUTE_BLOCK) {
    block = by_default ? (size + processes - 1) / processes : array.distribution_arguments[d];
  } else if (array.distributions[d] == MPI_DISTRIBUTE_CYCLIC) {
    block = by_default ? 1 : array.distribution_arguments[d];
  }
  Dimension dimension;
  dimension.size = size;
  for (std::int64_t first = mine * block; first < size; first += block * processes) {
    dimension.runs.push_back({first, std::min(block, size - first)});
  }
  return dimension;
}

void add_darray(Builder& builder, const Flat& child, const DarrayContents& array) {
  std::vector<Dimension> dimensions(array.global_sizes.size());
  // Ranks are laid out over the process grid in C order, whatever the order of the array.
  std::int64_t rank = array.rank;
  for (std::size_t d = dimensions.size(); d-- > 0;) {
    dimensions[d] = distributed(array, d, rank % array.process_sizes[d]);
    rank /= array.process_sizes[d];
  }
  if (array.fortran_order) std::reverse(dimensions.begin(), dimensions.end());
  add_section(builder, child, dimensions);
}

}  // namespace

bool flatten(MPI_Datatype type, const FlattenLeaf& leaf, Flat& flat) {
  TypeContents contents;
  if (!contents.read(type)) return false;
  if (contents.predefined()) {
    flat = leaf(type, contents.combiner());
    return flat.basic != nullptr;
  }
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  if (host_mpi().Type_get_extent(type, &low, &extent) != MPI_SUCCESS) return false;
  flat.extent = extent;
  std::vector<Flat> children(contents.types().size());
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (!flatten(contents.types()[i], leaf, children[i])) return false;
  }
  Builder builder(flat);
  const auto number = [&](std::int64_t i) { return contents.number(i); };
  const std::int64_t count = contents.has_numbers() ? number(0) : 0;
  switch (contents.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      builder.add(children[0], 0, 1);
      break;
    case MPI_COMBINER_CONTIGUOUS:
      builder.add(children[0], 0, count);
      break;
    case MPI_COMBINER_VECTOR:
      for (std::int64_t i = 0; i < count; ++i) {
        builder.add(children[0], i * number(2) * children[0].extent, number(1));
      }
      break;
    case MPI_COMBINER_HVECTOR:
      for (std::int64_t i = 0; i < count; ++i) {
        builder.add(children[0], i * contents.address(0, 2), number(1));
      }
      break;
    case MPI_COMBINER_INDEXED:
      for (std::int64_t i = 0; i < count; ++i) {
        builder.add(children[0], number(1 + count + i) * children[0].extent, number(1 + i));
      }
      break;
    case MPI_COMBINER_HINDEXED:
      for (std::int64_t i = 0; i < count; ++i) {
        builder.add(children[0], contents.address(i, 1 + count), number(1 + i));
      }
      break;
    case MPI_COMBINER_INDEXED_BLOCK:
      for (std::int64_t i = 0; i < count; ++i) {
        builder.add(children[0], number(2 + i) * children[0].extent, number(1));
      }
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      for (std::int64_t i = 0; i < count; ++i) {
        builder.add(children[0], contents.address(i, 2), number(1));
      }
      break;
    case MPI_COMBINER_STRUCT:
      for (std::int64_t i = 0; i < count; ++i) {
        builder.add(children[static_cast<std::size_t>(i)], contents.address(i, 1 + count),
                    number(1 + i));
      }
      break;
    case MPI_COMBINER_SUBARRAY:
      add_subarray(builder, children[0], contents.subarray());
      break;
    case MPI_COMBINER_DARRAY:
      add_darray(builder, children[0], contents.darray());
      break;
    default:
      return false;
  }
  // A datatype without data has the predefined type of its first child.
  if (flat.basic == nullptr && !children.empty()) flat.basic = children[0].basic;
  return true;
}

}  // namespace oriel::mpi
