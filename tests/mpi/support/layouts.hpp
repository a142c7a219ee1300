// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/check.hpp"

namespace support {

/// A way to lay out `elements` ints in memory, with any of MPI's type constructors.
struct Layout {
  std::string name;
  MPI_Datatype type;
  int count;
};

/// Twelve ints each; all fit into `span` bytes on either side of the address they are used at.
class Layouts {
 public:
  static constexpr int elements = 12;
  static constexpr int span = 2048;

  Layouts() {
    MPI_Datatype type;
    add("ints", MPI_INT, 12);
    MPI_Type_contiguous(12, MPI_INT, &type);
    add("contiguous", commit(type), 1);
    MPI_Type_contiguous(3, MPI_INT, &type);
    add("four of contiguous", commit(type), 4);
    MPI_Type_vector(4, 3, 5, MPI_INT, &type);
    add("vector", commit(type), 1);
    MPI_Type_vector(2, 1, 3, MPI_INT, &type);
    add("six of vector", commit(type), 6);
    MPI_Type_vector(4, 3, -4, MPI_INT, &type);
    add("vector with negative stride", commit(type), 1);
    MPI_Type_create_hvector(3, 4, 52, MPI_INT, &type);
    add("hvector", commit(type), 1);

    const int lengths[] = {2, 5, 1, 4};
    const int positions[] = {20, -9, 0, 4};
    MPI_Type_indexed(4, lengths, positions, MPI_INT, &type);
    add("indexed, out of order, negative", commit(type), 1);
    const int with_empty[] = {0, 7, 0, 5};
    MPI_Type_indexed(4, with_empty, positions, MPI_INT, &type);
    add("indexed with empty blocks", commit(type), 1);
    const MPI_Aint offsets[] = {80, -36, 4, 100};
    MPI_Type_create_hindexed(4, lengths, offsets, MPI_INT, &type);
    add("hindexed", commit(type), 1);
    const int blocks[] = {9, -3, 3};
    MPI_Type_create_indexed_block(3, 4, blocks, MPI_INT, &type);
    add("indexed block", commit(type), 1);
    const MPI_Aint block_offsets[] = {36, -60, 0};
    MPI_Type_create_hindexed_block(3, 4, block_offsets, MPI_INT, &type);
    add("hindexed block", commit(type), 1);
    // One element far from the start: the type whose updates a host lost (ompi#14181).
    const int one = 1;
    const int far = 7;
    MPI_Type_indexed(1, &one, &far, MPI_INT, &type);
    add("twelve of one-element indexed", commit(type), 12);

    MPI_Datatype pair;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    const int struct_lengths[] = {3, 2, 5};
    const MPI_Aint struct_offsets[] = {0, 40, -40};
    const MPI_Datatype members[] = {MPI_INT, pair, MPI_INT};
    MPI_Type_create_struct(3, struct_lengths, struct_offsets, members, &type);
    add("struct", commit(type), 1);

    const int sizes[] = {4, 5, 6};
    const int parts[] = {2, 3, 2};
    const int starts[] = {1, 2, 3};
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
    add("subarray, C order", commit(type), 1);
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type);
    add("subarray, Fortran order", commit(type), 1);
    // The first of 2 x 2 processes owns 3 x 4 elements of 6 x 8, cyclic in blocks of one and two.
    const int whole[] = {6, 8};
    const int distribution[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    const int darray_blocks[] = {1, 2};
    const int grid[] = {2, 2};
    MPI_Type_create_darray(4, 3, 2, whole, distribution, darray_blocks, grid, MPI_ORDER_C, MPI_INT,
                           &type);
    add("darray", commit(type), 1);

    MPI_Type_create_resized(MPI_INT, -8, 20, &type);
    add("twelve of resized, negative bound", commit(type), 12);
    MPI_Type_create_resized(pair, 0, 4, &type);  // extents overlap, elements do not in pairs of two
    MPI_Datatype interleaved;
    MPI_Type_contiguous(2, type, &interleaved);
    MPI_Type_free(&type);
    MPI_Type_create_resized(interleaved, 0, 24, &type);
    MPI_Type_free(&interleaved);
    add("three of interleaved", commit(type), 3);

    MPI_Datatype inner, middle;
    MPI_Type_create_hvector(2, 1, 12, MPI_INT, &inner);
    const int middle_lengths[] = {1, 2};
    const int middle_positions[] = {3, 0};
    MPI_Type_indexed(2, middle_lengths, middle_positions, inner, &middle);
    MPI_Type_vector(2, 1, 4, middle, &type);
    MPI_Type_free(&inner);
    MPI_Type_free(&middle);
    add("nested", commit(type), 1);
    MPI_Type_free(&pair);

    MPI_Datatype copy;
    MPI_Type_dup(layouts_[3].type, &copy);
    add("dup", copy, 1);
  }
  ~Layouts() {
    for (Layout& layout : layouts_) {
      if (layout.type != MPI_INT) MPI_Type_free(&layout.type);
    }
  }
  Layouts(const Layouts&) = delete;
  Layouts& operator=(const Layouts&) = delete;

  auto begin() const { return layouts_.begin(); }
  auto end() const { return layouts_.end(); }

 private:
  static MPI_Datatype commit(MPI_Datatype type) {
    MPI_Type_commit(&type);
    return type;
  }
  void add(const char* name, MPI_Datatype type, int count) {
    int size = 0;
    MPI_Type_size(type, &size);
    CHECK_EQUAL(size * count, elements * static_cast<int>(sizeof(int)));
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_true_extent(type, &lower, &extent);
    MPI_Aint step_lower = 0, step = 0;
    MPI_Type_get_extent(type, &step_lower, &step);
    CHECK(lower >= -span && lower + extent + (count - 1) * step <= span);
    layouts_.push_back({name, type, count});
  }

  std::vector<Layout> layouts_;
};

/// Copies by the host's two-sided path from one layout to another: the reference.
inline void copy_reference(const void* from, int from_count, MPI_Datatype from_type, void* to,
                           int to_count, MPI_Datatype to_type) {
  MPI_Sendrecv(from, from_count, from_type, 0, 0, to, to_count, to_type, 0, 0, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
}

}  // namespace support
