// SPDX-License-Identifier: BSD-3-Clause
// The entries of datatypes, from their first use until the program frees them.
#include "mpi/datatypes/datatypes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "support/fake_host.hpp"

namespace oriel::mpi {
namespace {

using test::make_type;

using Blocks = std::vector<std::pair<std::int64_t, std::uint64_t>>;

Blocks blocks(const LayoutRef& layout) {
  Blocks found;
  for (const Block& block : layout->blocks()) found.emplace_back(block.offset, block.length);
  return found;
}

class DatatypesTest : public testing::Test {
 protected:
  DatatypesTest() {
    self_.start();
    datatypes_.start(self_, lock_);
  }

  SelfComm self_;
  ProcessLock lock_;
  Datatypes datatypes_;
};

TEST_F(DatatypesTest, PredefinedTypesAreKnownFromTheStart) {
  const Datatypes::Known* known = datatypes_.find_known(MPI_DOUBLE);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(blocks(known->layout), (Blocks{{0, 8}}));
  EXPECT_EQ(known->basic->handle, MPI_DOUBLE);
  EXPECT_EQ(known->basic->basic, Basic::f64);
  EXPECT_EQ(datatypes_.find_committed(MPI_DOUBLE), known);
}

TEST_F(DatatypesTest, APairsElementIsOneRunItsBytesAreTwo) {
  const Datatypes::Known* known = datatypes_.find_committed(MPI_SHORT_INT);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(blocks(known->layout), (Blocks{{0, 2}, {4, 4}}));
  EXPECT_EQ(blocks(known->elements), (Blocks{{0, 8}}));
}

TEST_F(DatatypesTest, SoAreThoseOfATypeMadeOfPairs) {
  MPI_Datatype pairs = make_type({.combiner = MPI_COMBINER_VECTOR,
                                  .integers = {2, 1, 2},
                                  .types = {MPI_SHORT_INT},
                                  .extent = 24});
  const Datatypes::Known* known = datatypes_.find_committed(pairs);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(blocks(known->layout), (Blocks{{0, 2}, {4, 4}, {16, 2}, {20, 4}}));
  EXPECT_EQ(blocks(known->elements), (Blocks{{0, 8}, {16, 8}}));
  EXPECT_EQ(known->basic->handle, MPI_SHORT_INT);
  PMPI_Type_free(&pairs);
}

TEST_F(DatatypesTest, ADerivedTypeIsFlattenedOnce) {
  MPI_Datatype type = make_type(
      {.combiner = MPI_COMBINER_VECTOR, .integers = {2, 1, 3}, .types = {MPI_INT}, .extent = 16});
  EXPECT_EQ(datatypes_.find_known(type), nullptr);
  const Datatypes::Known* known = datatypes_.find_committed(type);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(blocks(known->layout), (Blocks{{0, 4}, {12, 4}}));
  EXPECT_EQ(known->layout->extent(), 16);
  EXPECT_EQ(known->elements.get(), known->layout.get());
  EXPECT_EQ(datatypes_.find_known(type), known);
  EXPECT_EQ(datatypes_.find_committed(type), known);
  PMPI_Type_free(&type);
}

TEST_F(DatatypesTest, AFreedTypeIsForgotten) {
  MPI_Datatype type = make_type({.combiner = MPI_COMBINER_DUP, .types = {MPI_INT}, .extent = 4});
  ASSERT_NE(datatypes_.find_committed(type), nullptr);
  const MPI_Datatype handle = type;
  PMPI_Type_free(&type);
  EXPECT_EQ(datatypes_.find_known(handle), nullptr);
  EXPECT_EQ(datatypes_.find_committed(handle), nullptr);
}

TEST_F(DatatypesTest, AFreedTypeThatNobodyHasUsedIsRefused) {
  MPI_Datatype type = make_type({.combiner = MPI_COMBINER_DUP, .types = {MPI_INT}, .extent = 4});
  const MPI_Datatype handle = type;
  datatypes_.watch_freed(type);
  PMPI_Type_free(&type);
  EXPECT_EQ(datatypes_.find_committed(handle), nullptr);
  datatypes_.watch_freed(handle);  // a second time, or an address of nothing
  datatypes_.watch_freed(MPI_DATATYPE_NULL);
  EXPECT_EQ(datatypes_.find_committed(handle), nullptr);
}

TEST_F(DatatypesTest, FortransTypesOfACertainPrecisionArePredefined) {
  MPI_Datatype type =
      make_type({.combiner = MPI_COMBINER_F90_INTEGER, .integers = {9}, .types = {}, .extent = 4});
  const Datatypes::Known* known = datatypes_.find_committed(type);
  ASSERT_NE(known, nullptr);
  EXPECT_TRUE(known->predefined);
  EXPECT_EQ(known->basic->basic, Basic::i32);
  EXPECT_TRUE(datatypes_.find_committed(MPI_INT)->predefined);
  MPI_Datatype derived = make_type({.combiner = MPI_COMBINER_DUP, .types = {MPI_INT}, .extent = 4});
  ASSERT_NE(datatypes_.find_committed(derived), nullptr);
  EXPECT_FALSE(datatypes_.find_committed(derived)->predefined);
  PMPI_Type_free(&derived);
  PMPI_Type_free(&type);
}

TEST_F(DatatypesTest, AnInnerTypeMayBeFreedFirst) {
  MPI_Datatype inner = make_type(
      {.combiner = MPI_COMBINER_CONTIGUOUS, .integers = {2}, .types = {MPI_INT}, .extent = 8});
  MPI_Datatype outer = make_type(
      {.combiner = MPI_COMBINER_RESIZED, .addresses = {0, 12}, .types = {inner}, .extent = 12});
  const Datatypes::Known* known = datatypes_.find_committed(outer);
  ASSERT_NE(known, nullptr);
  PMPI_Type_free(&inner);
  EXPECT_EQ(test::live_types(), 1);
  EXPECT_EQ(datatypes_.find_committed(outer), known);
  EXPECT_EQ(blocks(known->layout), (Blocks{{0, 8}}));
  PMPI_Type_free(&outer);
  EXPECT_EQ(test::live_types(), 0);
}

TEST_F(DatatypesTest, WhatIsNotCommittedIsRefusedUntilItIs) {
  MPI_Datatype type = make_type(
      {.combiner = MPI_COMBINER_DUP, .types = {MPI_INT}, .extent = 4, .committed = false});
  EXPECT_EQ(datatypes_.find_committed(type), nullptr);
  EXPECT_EQ(datatypes_.find_known(type), nullptr);
  PMPI_Type_free(&type);
  EXPECT_EQ(datatypes_.find_committed(MPI_DATATYPE_NULL), nullptr);
  EXPECT_EQ(datatypes_.find_committed(static_cast<MPI_Datatype>(4711)), nullptr);
}

TEST_F(DatatypesTest, AMixedTypeHasNoBasicOne) {
  MPI_Datatype type = make_type({.combiner = MPI_COMBINER_STRUCT,
                                 .integers = {2, 1, 1},
                                 .addresses = {0, 8},
                                 .types = {MPI_INT, MPI_DOUBLE},
                                 .extent = 16});
  const Datatypes::Known* known = datatypes_.find_committed(type);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->basic, nullptr);
  PMPI_Type_free(&type);
}

TEST_F(DatatypesTest, StoppedItKnowsNothing) {
  datatypes_.stop();
  EXPECT_EQ(datatypes_.find_known(MPI_INT), nullptr);
  datatypes_.start(self_, lock_);
  EXPECT_NE(datatypes_.find_known(MPI_INT), nullptr);
}

}  // namespace
}  // namespace oriel::mpi
