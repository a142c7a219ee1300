// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/flatten.hpp"

#include <algorithm>

#include "boundary/type_contents.hpp"

namespace oriel::boundary {
namespace {

/// Puts elements of other datatypes one behind the other.
class Builder {
 public:
  explicit Builder(Flat& flat) : flat_(flat) {}

  /// `count` elements of `child`, the first at `offset`.
  void add(const Flat& child, std::int64_t offset, std::int64_t count) {
    if (count <= 0 || child.blocks.empty()) return;
    note_basic(child);
    const bool dense = child.blocks.size() == 1 &&
                       static_cast<std::int64_t>(child.blocks[0].length) == child.extent;
    if (dense) {
      append(offset + child.blocks[0].offset, child.blocks[0].length * static_cast<std::uint64_t>(count));
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
  void note_basic(const Flat& child) {
    if (child.mixed || (flat_.basic != nullptr && flat_.basic != child.basic)) flat_.mixed = true;
    if (flat_.basic == nullptr) flat_.basic = child.basic;
  }

  Flat& flat_;
};

/// The indices that one dimension of an array contributes.
struct Dimension {
  std::int64_t size = 0;
  std::vector<std::int64_t> indices;
};

/// Visits the elements of an array section in memory order: the last dimension varies fastest.
void add_section(Builder& builder, const Flat& child, const std::vector<Dimension>& dimensions) {
  for (const Dimension& dimension : dimensions) {
    if (dimension.indices.empty()) return;
  }
  std::vector<std::size_t> at(dimensions.size(), 0);
  while (true) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      element = element * dimensions[d].size + dimensions[d].indices[at[d]];
    }
    builder.add(child, element * child.extent, 1);
    std::size_t d = dimensions.size();
    while (d-- > 0) {
      if (++at[d] < dimensions[d].indices.size()) break;
      at[d] = 0;
      if (d == 0) return;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

void add_subarray(Builder& builder, const Flat& child, const SubarrayContents& array) {
  std::vector<Dimension> dimensions(array.sizes.size());
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    dimensions[d].size = array.sizes[d];
    for (std::int64_t i = 0; i < array.subsizes[d]; ++i) {
      dimensions[d].indices.push_back(array.starts[d] + i);
    }
  }
  if (array.fortran_order) std::reverse(dimensions.begin(), dimensions.end());
  add_section(builder, child, dimensions);
}

void add_darray(Builder& builder, const Flat& child, const DarrayContents& array) {
  const std::size_t count = array.global_sizes.size();
  std::vector<Dimension> dimensions(count);
  // Ranks are laid out over the process grid in C order, whatever the order of the array.
  std::int64_t rank = array.rank;
  for (std::size_t d = count; d-- > 0;) {
    const std::int64_t processes = array.process_sizes[d];
    const std::int64_t mine = rank % processes;
    rank /= processes;
    const std::int64_t size = array.global_sizes[d];
    dimensions[d].size = size;
    std::int64_t block = array.distribution_arguments[d];
    switch (array.distributions[d]) {
      case MPI_DISTRIBUTE_BLOCK:
        if (block == MPI_DISTRIBUTE_DFLT_DARG) block = (size + processes - 1) / processes;
        break;
      case MPI_DISTRIBUTE_CYCLIC:
        if (block == MPI_DISTRIBUTE_DFLT_DARG) block = 1;
        break;
      default:
        block = size;
        break;
    }
    const std::int64_t step = std::max<std::int64_t>(block * processes, 1);
    for (std::int64_t first = mine * block; first < size; first += step) {
      for (std::int64_t i = first; i < std::min(first + block, size); ++i) {
        dimensions[d].indices.push_back(i);
      }
    }
  }
  if (array.fortran_order) std::reverse(dimensions.begin(), dimensions.end());
  add_section(builder, child, dimensions);
}

}  // namespace

bool flatten(MPI_Datatype type, const FlattenLeaf& leaf, Flat& flat) {
  TypeContents contents;
  if (!contents.read(type)) return false;
  if (contents.predefined()) {
    flat = leaf(type);
    return flat.basic != nullptr;
  }
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  if (PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS) return false;
  flat.extent = extent;
  std::vector<Flat> children(contents.types().size());
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (!flatten(contents.types()[i], leaf, children[i])) return false;
  }
  Builder builder(flat);
  const auto number = [&](std::int64_t i) { return contents.number(i); };
  const std::int64_t count = contents.numbers() != 0 ? number(0) : 0;
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
  return true;
}

}  // namespace oriel::boundary
