// SPDX-License-Identifier: BSD-3-Clause
// Datatypes taken apart: every combiner gives the blocks of its typemap, in typemap order.
#include "mpi/datatypes/flatten.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "support/fake_host.hpp"

namespace oriel::mpi {
namespace {

using test::FakeType;
using test::make_type;

using Blocks = std::vector<std::pair<std::int64_t, std::uint64_t>>;

/// Types of 1, 4 and 8 bytes, and no other.
class Flatten : public testing::Test {
 protected:
  Flatten() {
    byte_.handle = MPI_BYTE;
    int_.handle = MPI_INT;
    double_.handle = MPI_DOUBLE;
  }
  void TearDown() override {
    // The references to inner types that the host has given with the contents are given back.
    EXPECT_EQ(test::live_types(), made_);
    for (MPI_Datatype& type : types_) PMPI_Type_free(&type);
    EXPECT_EQ(test::live_types(), 0);
  }

  MPI_Datatype make(FakeType type) {
    ++made_;
    types_.push_back(make_type(std::move(type)));
    return types_.back();
  }

  bool flatten_type(MPI_Datatype type) {
    flat_ = {};
    return flatten(
        type,
        [&](MPI_Datatype leaf, int combiner) {
          combiner_ = combiner;
          if (leaf == MPI_INT) return leaf_of(int_, 4);
          if (leaf == MPI_DOUBLE) return leaf_of(double_, 8);
          if (leaf == MPI_BYTE) return leaf_of(byte_, 1);
          if (combiner == MPI_COMBINER_F90_REAL) return leaf_of(double_, 8);
          return Flat();
        },
        flat_);
  }
  Blocks blocks(MPI_Datatype type) {
    EXPECT_TRUE(flatten_type(type));
    Blocks found;
    for (const Block& block : flat_.blocks) found.emplace_back(block.offset, block.length);
    return found;
  }

  static Flat leaf_of(const PredefinedType& type, std::uint32_t bytes) {
    return {{{0, bytes}}, bytes, &type, false};
  }

  PredefinedType byte_, int_, double_;
  Flat flat_;
  int combiner_ = -1;
  int made_ = 0;
  std::vector<MPI_Datatype> types_;
};

TEST_F(Flatten, APredefinedTypeIsItsLeaf) {
  EXPECT_EQ(blocks(MPI_INT), (Blocks{{0, 4}}));
  EXPECT_EQ(flat_.extent, 4);
  EXPECT_EQ(flat_.basic, &int_);
  EXPECT_EQ(combiner_, MPI_COMBINER_NAMED);
}

TEST_F(Flatten, WhatIsNoTypeAndAnUnknownLeafAreRefused) {
  EXPECT_FALSE(flatten_type(MPI_DATATYPE_NULL));
  EXPECT_FALSE(flatten_type(MPI_FLOAT));
  EXPECT_FALSE(flatten_type(
      make({.combiner = MPI_COMBINER_CONTIGUOUS, .integers = {2}, .types = {MPI_FLOAT}})));
}

TEST_F(Flatten, AnUnknownCombinerIsRefused) {
  EXPECT_FALSE(flatten_type(make({.combiner = 4711, .integers = {2}, .types = {MPI_INT}})));
}

TEST_F(Flatten, ATypeOfFortransRangeIsALeaf) {
  const MPI_Datatype real =
      make({.combiner = MPI_COMBINER_F90_REAL, .integers = {15, 300}, .types = {}, .extent = 8});
  EXPECT_EQ(blocks(real), (Blocks{{0, 8}}));
  EXPECT_EQ(combiner_, MPI_COMBINER_F90_REAL);
}

TEST_F(Flatten, ContiguousElementsAreOneBlock) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_CONTIGUOUS,
                         .integers = {3},
                         .types = {MPI_INT},
                         .extent = 12})),
            (Blocks{{0, 12}}));
  EXPECT_EQ(flat_.extent, 12);
  EXPECT_EQ(flat_.basic, &int_);
  EXPECT_FALSE(flat_.mixed);
}

TEST_F(Flatten, AVectorCountsItsStrideInElements) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_VECTOR,
                         .integers = {3, 2, 5},
                         .types = {MPI_INT},
                         .extent = 48})),
            (Blocks{{0, 8}, {20, 8}, {40, 8}}));
}

TEST_F(Flatten, AVectorWithoutGapsIsOneBlock) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_VECTOR,
                         .integers = {3, 2, 2},
                         .types = {MPI_INT},
                         .extent = 24})),
            (Blocks{{0, 24}}));
}

TEST_F(Flatten, ANegativeStrideKeepsTheTypemapsOrder) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_HVECTOR,
                         .integers = {3, 1},
                         .addresses = {-16},
                         .types = {MPI_INT},
                         .extent = 36})),
            (Blocks{{0, 4}, {-16, 4}, {-32, 4}}));
}

TEST_F(Flatten, AnHvectorCountsItsStrideInBytes) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_HVECTOR,
                         .integers = {2, 3},
                         .addresses = {17},
                         .types = {MPI_INT},
                         .extent = 29})),
            (Blocks{{0, 12}, {17, 12}}));
}

TEST_F(Flatten, IndexedBlocksHaveLengthsAndDisplacementsOfTheirOwn) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_INDEXED,
                         .integers = {3, 1, 2, 1, 4, 0, 7},
                         .types = {MPI_INT},
                         .extent = 32})),
            (Blocks{{16, 4}, {0, 8}, {28, 4}}));
}

TEST_F(Flatten, HindexedDisplacementsAreBytes) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_HINDEXED,
                         .integers = {2, 1, 3},
                         .addresses = {5, 21},
                         .types = {MPI_INT},
                         .extent = 28})),
            (Blocks{{5, 4}, {21, 12}}));
}

TEST_F(Flatten, BlocksOfNoElementsAreLeftOut) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_HINDEXED,
                         .integers = {3, 1, 0, 1},
                         .addresses = {0, 100, 8},
                         .types = {MPI_INT},
                         .extent = 12})),
            (Blocks{{0, 4}, {8, 4}}));
}

TEST_F(Flatten, IndexedBlocksOfOneLength) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_INDEXED_BLOCK,
                         .integers = {2, 3, 1, 6},
                         .types = {MPI_INT},
                         .extent = 32})),
            (Blocks{{4, 12}, {24, 12}}));
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_HINDEXED_BLOCK,
                         .integers = {2, 3},
                         .addresses = {1, 50},
                         .types = {MPI_INT},
                         .extent = 61})),
            (Blocks{{1, 12}, {50, 12}}));
}

TEST_F(Flatten, AStructOfSeveralTypesIsMixed) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_STRUCT,
                         .integers = {2, 1, 2},
                         .addresses = {0, 8},
                         .types = {MPI_INT, MPI_DOUBLE},
                         .extent = 24})),
            (Blocks{{0, 4}, {8, 16}}));
  EXPECT_TRUE(flat_.mixed);
}

TEST_F(Flatten, AStructOfOneTypeIsNot) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_STRUCT,
                         .integers = {2, 1, 1},
                         .addresses = {8, 0},
                         .types = {MPI_INT, MPI_INT},
                         .extent = 12})),
            (Blocks{{8, 4}, {0, 4}}));
  EXPECT_FALSE(flat_.mixed);
}

TEST_F(Flatten, AMixedPartMakesTheWholeMixed) {
  const MPI_Datatype part = make({.combiner = MPI_COMBINER_STRUCT,
                                  .integers = {2, 1, 1},
                                  .addresses = {0, 8},
                                  .types = {MPI_INT, MPI_DOUBLE},
                                  .extent = 16});
  EXPECT_EQ(
      blocks(make(
          {.combiner = MPI_COMBINER_CONTIGUOUS, .integers = {2}, .types = {part}, .extent = 32})),
      (Blocks{{0, 4}, {8, 12}, {24, 8}}));
  EXPECT_TRUE(flat_.mixed);
}

TEST_F(Flatten, AResizedTypeHasItsOwnExtent) {
  const MPI_Datatype resized = make(
      {.combiner = MPI_COMBINER_RESIZED, .addresses = {0, 10}, .types = {MPI_INT}, .extent = 10});
  EXPECT_EQ(blocks(resized), (Blocks{{0, 4}}));
  EXPECT_EQ(flat_.extent, 10);
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_CONTIGUOUS,
                         .integers = {3},
                         .types = {resized},
                         .extent = 30})),
            (Blocks{{0, 4}, {10, 4}, {20, 4}}));
}

TEST_F(Flatten, ADuplicateIsWhatItDuplicates) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_DUP, .types = {MPI_DOUBLE}, .extent = 8})),
            (Blocks{{0, 8}}));
}

TEST_F(Flatten, ASubarrayInCOrder) {
  // Rows 1 and 2, columns 2 to 4 of 4 x 6.
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_SUBARRAY,
                         .integers = {2, 4, 6, 2, 3, 1, 2, MPI_ORDER_C},
                         .types = {MPI_INT},
                         .extent = 96})),
            (Blocks{{32, 12}, {56, 12}}));
}

TEST_F(Flatten, ASubarrayInFortranOrder) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_SUBARRAY,
                         .integers = {2, 4, 6, 2, 3, 1, 2, MPI_ORDER_FORTRAN},
                         .types = {MPI_INT},
                         .extent = 96})),
            (Blocks{{36, 8}, {52, 8}, {68, 8}}));
}

TEST_F(Flatten, ALargeCountSubarray) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_SUBARRAY,
                         .integers = {2, MPI_ORDER_FORTRAN},
                         .counts = {4, 6, 2, 3, 1, 2},
                         .types = {MPI_INT},
                         .extent = 96})),
            (Blocks{{36, 8}, {52, 8}, {68, 8}}));
}

TEST_F(Flatten, LargeCountNumbersAndDisplacementsShareAnArray) {
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_HVECTOR,
                         .counts = {2, 3, 17},
                         .types = {MPI_INT},
                         .extent = 29})),
            (Blocks{{0, 12}, {17, 12}}));
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_HINDEXED,
                         .counts = {2, 1, 3, 5, 21},
                         .types = {MPI_INT},
                         .extent = 28})),
            (Blocks{{5, 4}, {21, 12}}));
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_HINDEXED_BLOCK,
                         .counts = {2, 3, 1, 50},
                         .types = {MPI_INT},
                         .extent = 61})),
            (Blocks{{1, 12}, {50, 12}}));
  EXPECT_EQ(blocks(make({.combiner = MPI_COMBINER_STRUCT,
                         .counts = {2, 1, 2, 0, 8},
                         .types = {MPI_INT, MPI_DOUBLE},
                         .extent = 24})),
            (Blocks{{0, 4}, {8, 16}}));
}

/// A distributed array of `size` elements over 3 processes, as seen by `rank`.
FakeType distributed(int rank, int size, int distribution, int argument) {
  return {.combiner = MPI_COMBINER_DARRAY,
          .integers = {3, rank, 1, size, distribution, argument, 3, MPI_ORDER_C},
          .types = {MPI_INT},
          .extent = 4 * static_cast<MPI_Aint>(size)};
}

TEST_F(Flatten, ADistributedArrayByBlocks) {
  const int by_default = MPI_DISTRIBUTE_DFLT_DARG;
  // Blocks of 4 of 10: the last is short.
  EXPECT_EQ(blocks(make(distributed(0, 10, MPI_DISTRIBUTE_BLOCK, by_default))), (Blocks{{0, 16}}));
  EXPECT_EQ(blocks(make(distributed(2, 10, MPI_DISTRIBUTE_BLOCK, by_default))), (Blocks{{32, 8}}));
  EXPECT_EQ(blocks(make(distributed(1, 10, MPI_DISTRIBUTE_BLOCK, 5))), (Blocks{{20, 20}}));
  EXPECT_EQ(blocks(make(distributed(2, 10, MPI_DISTRIBUTE_BLOCK, 5))), Blocks());
}

TEST_F(Flatten, ADistributedArrayByTurns) {
  EXPECT_EQ(blocks(make(distributed(1, 8, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG))),
            (Blocks{{4, 4}, {16, 4}, {28, 4}}));
  EXPECT_EQ(blocks(make(distributed(1, 10, MPI_DISTRIBUTE_CYCLIC, 2))), (Blocks{{8, 8}, {32, 8}}));
}

TEST_F(Flatten, AnEmptyPartOfADistributedArrayKeepsItsType) {
  EXPECT_EQ(blocks(make(distributed(2, 10, MPI_DISTRIBUTE_BLOCK, 5))), Blocks());
  EXPECT_EQ(flat_.basic, &int_);
  EXPECT_EQ(flat_.extent, 40);
}

TEST_F(Flatten, AGridOfProcessesIsCountedInCOrder) {
  // 4 x 4 over 2 x 2 processes: rank 1 has the upper right quarter, in both orders of the array.
  FakeType quarter{
      .combiner = MPI_COMBINER_DARRAY,
      .integers = {4, 1, 2, 4, 4, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK,
                   MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, 2, 2, MPI_ORDER_C},
      .types = {MPI_INT},
      .extent = 64};
  EXPECT_EQ(blocks(make(quarter)), (Blocks{{8, 8}, {24, 8}}));
  quarter.integers.back() = MPI_ORDER_FORTRAN;
  EXPECT_EQ(blocks(make(quarter)), (Blocks{{32, 8}, {48, 8}}));
}

TEST_F(Flatten, NestedTypes) {
  const MPI_Datatype column = make(
      {.combiner = MPI_COMBINER_VECTOR, .integers = {2, 1, 3}, .types = {MPI_INT}, .extent = 16});
  const MPI_Datatype columns = make({.combiner = MPI_COMBINER_HVECTOR,
                                     .integers = {2, 1},
                                     .addresses = {4},
                                     .types = {column},
                                     .extent = 20});
  EXPECT_EQ(blocks(columns), (Blocks{{0, 4}, {12, 4}, {4, 4}, {16, 4}}));
}

}  // namespace
}  // namespace oriel::mpi
