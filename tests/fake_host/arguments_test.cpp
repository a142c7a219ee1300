// SPDX-License-Identifier: BSD-3-Clause
// Arguments of calls on a window: which error class a wrong one raises, with which sentence, and
// that nothing has been done then.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "mpi/operations/operations.hpp"
#include "support/fake_host.hpp"

namespace oriel::mpi {
namespace {

using test::RaisedError;

class Arguments : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(MPI_Win_create(memory_.data(), sizeof memory_, sizeof memory_[0], MPI_INFO_NULL,
                             MPI_COMM_WORLD, &win_),
              MPI_SUCCESS);
    ASSERT_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win_), MPI_SUCCESS);
    test::clear_errors();
  }
  void TearDown() override {
    EXPECT_EQ(MPI_Win_unlock(0, win_), MPI_SUCCESS);
    EXPECT_EQ(MPI_Win_free(&win_), MPI_SUCCESS);
    EXPECT_EQ(win_, MPI_WIN_NULL);
  }

  /// The call's code is that of the one error that was raised; nothing has been written.
  void expect_refused(int code, int error_class, const std::string& sentence) {
    ASSERT_EQ(test::raised_errors().size(), 1U) << sentence;
    EXPECT_EQ(test::raised_errors()[0].error_class, error_class);
    EXPECT_EQ(test::raised_errors()[0].text, sentence);
    EXPECT_EQ(test::class_of(code), error_class);
    EXPECT_EQ(memory_, initial);
    EXPECT_EQ(local_, initial);
    test::clear_errors();
  }
  int put(int count, MPI_Datatype type, int rank, MPI_Aint displacement, int target_count,
          MPI_Datatype target_type) {
    return MPI_Put(ones.data(), count, type, rank, displacement, target_count, target_type, win_);
  }

  using Memory = std::array<std::int32_t, 4>;
  static constexpr Memory initial{10, 20, 30, 40};
  static constexpr Memory ones{1, 1, 1, 1};
  Memory memory_ = initial;
  Memory local_ = initial;
  MPI_Win win_ = MPI_WIN_NULL;
};

constexpr const char* unnamed = " on an unnamed window: ";

TEST_F(Arguments, RightOnesAreCarriedOut) {
  EXPECT_EQ(put(2, MPI_INT, 0, 1, 2, MPI_INT), MPI_SUCCESS);
  EXPECT_EQ(memory_, (Memory{10, 1, 1, 40}));
  EXPECT_EQ(MPI_Get(local_.data(), 1, MPI_INT, 0, 3, 1, MPI_INT, win_), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_flush(0, win_), MPI_SUCCESS);
  EXPECT_EQ(local_[0], 40);
  EXPECT_TRUE(test::raised_errors().empty());
}

TEST_F(Arguments, ACountMustNotBeNegative) {
  const std::string negative = std::string("MPI_Put") + unnamed + "the count is negative.";
  expect_refused(put(-1, MPI_INT, 0, 0, 1, MPI_INT), MPI_ERR_COUNT, negative);
  expect_refused(put(1, MPI_INT, 0, 0, -1, MPI_INT), MPI_ERR_COUNT, negative);
  // Both sides alike, as the hot path takes them.
  expect_refused(put(-1, MPI_INT, 0, 0, -1, MPI_INT), MPI_ERR_COUNT, negative);
  expect_refused(MPI_Get(local_.data(), -1, MPI_INT, 0, 0, -1, MPI_INT, win_), MPI_ERR_COUNT,
                 std::string("MPI_Get") + unnamed + "the count is negative.");
}

TEST_F(Arguments, ATypeMustBeCommitted) {
  const std::string sentence =
      std::string("MPI_Put") + unnamed + "the datatype is not valid or not committed.";
  expect_refused(put(1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT), MPI_ERR_TYPE, sentence);
  expect_refused(put(1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL), MPI_ERR_TYPE, sentence);
  MPI_Datatype type = test::make_type(
      {.combiner = MPI_COMBINER_DUP, .types = {MPI_INT}, .extent = 4, .committed = false});
  expect_refused(put(1, type, 0, 0, 1, type), MPI_ERR_TYPE, sentence);
  PMPI_Type_free(&type);
}

TEST_F(Arguments, TheFirstWrongOneIsTold) {
  expect_refused(put(-1, MPI_DATATYPE_NULL, 7, -1, 1, MPI_INT), MPI_ERR_COUNT,
                 std::string("MPI_Put") + unnamed + "the count is negative.");
  expect_refused(put(1, MPI_DATATYPE_NULL, 7, -1, 1, MPI_INT), MPI_ERR_TYPE,
                 std::string("MPI_Put") + unnamed + "the datatype is not valid or not committed.");
  expect_refused(put(1, MPI_INT, 7, -1, 1, MPI_INT), MPI_ERR_RANK,
                 std::string("MPI_Put") + unnamed + "the rank is not in the window's group.");
}

TEST_F(Arguments, TheOpIsTheLast) {
  expect_refused(MPI_Accumulate(ones.data(), 1, MPI_FLOAT, 0, -1, 1, MPI_FLOAT, MPI_BAND, win_),
                 MPI_ERR_DISP,
                 std::string("MPI_Accumulate") + unnamed + "the target displacement is negative.");
}

TEST_F(Arguments, ARankMustBeInTheGroup) {
  for (const int rank : {1, -7}) {
    expect_refused(put(1, MPI_INT, rank, 0, 1, MPI_INT), MPI_ERR_RANK,
                   std::string("MPI_Put") + unnamed + "the rank is not in the window's group.");
  }
}

TEST_F(Arguments, ToNobodyIsNoError) {
  EXPECT_EQ(put(1, MPI_INT, MPI_PROC_NULL, -5, 1, MPI_INT), MPI_SUCCESS);
  EXPECT_EQ(memory_, initial);
}

TEST_F(Arguments, ADisplacementMustNotBeNegative) {
  expect_refused(put(1, MPI_INT, 0, -1, 1, MPI_INT), MPI_ERR_DISP,
                 std::string("MPI_Put") + unnamed + "the target displacement is negative.");
}

TEST_F(Arguments, NothingReachesBeyondTheWindow) {
  EXPECT_NE(put(1, MPI_INT, 0, 4, 1, MPI_INT), MPI_SUCCESS);
  ASSERT_EQ(test::raised_errors().size(), 1U);
  EXPECT_EQ(test::raised_errors()[0].error_class, MPI_ERR_RMA_RANGE);
  EXPECT_EQ(memory_, initial);
  // The product with the displacement unit must not wrap.
  EXPECT_NE(put(1, MPI_INT, 0, std::int64_t{1} << 62, 1, MPI_INT), MPI_SUCCESS);
  EXPECT_EQ(test::raised_errors().back().error_class, MPI_ERR_RMA_RANGE);
  EXPECT_EQ(memory_, initial);
}

TEST_F(Arguments, OpAndTypeMustGoTogether) {
  const auto accumulate = [&](MPI_Op op, MPI_Datatype type, MPI_Datatype target_type) {
    return MPI_Accumulate(ones.data(), 1, type, 0, 0, 1, target_type, op, win_);
  };
  const std::string call = std::string("MPI_Accumulate") + unnamed;
  expect_refused(accumulate(MPI_BAND, MPI_FLOAT, MPI_FLOAT), MPI_ERR_OP,
                 call + "the op is not defined for this datatype.");
  expect_refused(accumulate(MPI_OP_NULL, MPI_INT, MPI_INT), MPI_ERR_OP,
                 call + "the op is not a predefined one.");
  expect_refused(accumulate(MPI_NO_OP, MPI_INT, MPI_INT), MPI_ERR_OP,
                 call + "MPI_NO_OP needs a call that fetches.");
  expect_refused(accumulate(MPI_SUM, MPI_FLOAT, MPI_INT), MPI_ERR_TYPE,
                 call + "the datatypes of the two sides are made of different predefined types.");
  EXPECT_EQ(accumulate(MPI_SUM, MPI_INT, MPI_INT), MPI_SUCCESS);
  EXPECT_EQ(memory_[0], 11);
}

TEST_F(Arguments, AccumulatesTakeTypesOfOneBasicType) {
  MPI_Datatype mixed = test::make_type({.combiner = MPI_COMBINER_STRUCT,
                                        .integers = {2, 1, 1},
                                        .addresses = {0, 4},
                                        .types = {MPI_INT, MPI_FLOAT},
                                        .extent = 8});
  expect_refused(MPI_Accumulate(ones.data(), 1, mixed, 0, 0, 1, mixed, MPI_SUM, win_), MPI_ERR_TYPE,
                 std::string("MPI_Accumulate") + unnamed +
                     "the datatype is made of more than one predefined type.");
  PMPI_Type_free(&mixed);
}

TEST_F(Arguments, FetchAndOpTakesPredefinedTypes) {
  MPI_Datatype type =
      test::make_type({.combiner = MPI_COMBINER_DUP, .types = {MPI_INT}, .extent = 4});
  expect_refused(
      MPI_Fetch_and_op(ones.data(), local_.data(), type, 0, 0, MPI_SUM, win_), MPI_ERR_TYPE,
      std::string("MPI_Fetch_and_op") + unnamed + "the call takes predefined datatypes only.");
  PMPI_Type_free(&type);
}

TEST_F(Arguments, CompareAndSwapTakesNoFloatingPoint) {
  expect_refused(
      MPI_Compare_and_swap(ones.data(), initial.data(), local_.data(), MPI_FLOAT, 0, 0, win_),
      MPI_ERR_TYPE,
      std::string("MPI_Compare_and_swap") + unnamed +
          "the datatype is not an integer, logical, multi-language or byte type.");
}

TEST_F(Arguments, ARequestOfAnOperationIsComplete) {
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Rput(ones.data(), 1, MPI_INT, 0, 0, 1, MPI_INT, win_, &request), MPI_SUCCESS);
  EXPECT_NE(request, MPI_REQUEST_NULL);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  EXPECT_EQ(memory_[0], 1);
}

// MPI permits it in passive epochs only, and all hosts carry it out.
TEST_F(Arguments, ARequestInAFenceEpochIsCarriedOut) {
  ASSERT_EQ(MPI_Win_unlock(0, win_), MPI_SUCCESS);
  ASSERT_EQ(MPI_Win_fence(0, win_), MPI_SUCCESS);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Rput(ones.data(), 1, MPI_INT, 0, 0, 1, MPI_INT, win_, &request), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(memory_[0], 1);
  ASSERT_EQ(MPI_Win_fence(MPI_MODE_NOSUCCEED, win_), MPI_SUCCESS);
  EXPECT_TRUE(test::raised_errors().empty());
  ASSERT_EQ(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win_), MPI_SUCCESS);
}

TEST_F(Arguments, ARequestNeedsAnEpoch) {
  ASSERT_EQ(MPI_Win_unlock(0, win_), MPI_SUCCESS);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_NE(MPI_Rput(ones.data(), 1, MPI_INT, 0, 0, 1, MPI_INT, win_, &request), MPI_SUCCESS);
  ASSERT_EQ(test::raised_errors().size(), 1U);
  EXPECT_EQ(test::raised_errors()[0].error_class, MPI_ERR_RMA_SYNC);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  EXPECT_EQ(memory_, initial);
  ASSERT_EQ(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win_), MPI_SUCCESS);
}

TEST_F(Arguments, ATypeMustNotHaveBeenFreed) {
  const std::string sentence =
      std::string("MPI_Put") + unnamed + "the datatype is not valid or not committed.";
  MPI_Datatype type =
      test::make_type({.combiner = MPI_COMBINER_DUP, .types = {MPI_INT}, .extent = 4});
  const MPI_Datatype unused = type;
  MPI_Type_free(&type);
  expect_refused(put(1, unused, 0, 0, 1, MPI_INT), MPI_ERR_TYPE, sentence);
  type = test::make_type({.combiner = MPI_COMBINER_DUP, .types = {MPI_INT}, .extent = 4});
  EXPECT_EQ(put(0, type, 0, 0, 0, type), MPI_SUCCESS);
  const MPI_Datatype used = type;
  MPI_Type_free(&type);
  expect_refused(put(1, MPI_INT, 0, 0, 1, used), MPI_ERR_TYPE, sentence);
}

TEST_F(Arguments, AnEmptyGroupIsAGroup) {
  ASSERT_EQ(MPI_Win_unlock(0, win_), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_post(MPI_GROUP_EMPTY, 0, win_), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_start(MPI_GROUP_EMPTY, 0, win_), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_complete(win_), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_wait(win_), MPI_SUCCESS);
  MPI_Group group = MPI_GROUP_NULL;
  EXPECT_EQ(MPI_Win_get_group(win_, &group), MPI_SUCCESS);
  EXPECT_NE(group, MPI_GROUP_NULL);
  MPI_Group_free(&group);
  EXPECT_TRUE(test::raised_errors().empty());
  ASSERT_EQ(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win_), MPI_SUCCESS);
}

TEST_F(Arguments, FetchAndOpTakesFortransTypesOfACertainPrecision) {
  MPI_Datatype type = test::make_type(
      {.combiner = MPI_COMBINER_F90_INTEGER, .integers = {9}, .types = {}, .extent = 4});
  EXPECT_EQ(MPI_Fetch_and_op(ones.data(), local_.data(), type, 0, 0, MPI_SUM, win_), MPI_SUCCESS);
  EXPECT_EQ(local_[0], 10);
  EXPECT_EQ(memory_[0], 11);
  const std::int32_t compared = 11;
  EXPECT_EQ(MPI_Compare_and_swap(ones.data(), &compared, local_.data(), type, 0, 0, win_),
            MPI_SUCCESS);
  EXPECT_EQ(local_[0], 11);
  EXPECT_EQ(memory_[0], 1);
  EXPECT_TRUE(test::raised_errors().empty());
  PMPI_Type_free(&type);
}

// A notification without data is sent by a put of nothing, whose address may be null.
TEST_F(Arguments, NothingAtANullAddressIsOneRun) {
  std::size_t bytes = 1;
  EXPECT_TRUE(one_run(nullptr, 0, MPI_INT, 0, MPI_INT, bytes));
  EXPECT_EQ(bytes, 0U);
  EXPECT_FALSE(one_run(nullptr, 1, MPI_INT, 1, MPI_INT, bytes));
}

TEST_F(Arguments, AWindowIsCalledByItsName) {
  MPI_Win_set_name(win_, "halo");
  expect_refused(put(-1, MPI_INT, 0, 0, 1, MPI_INT), MPI_ERR_COUNT,
                 "MPI_Put on window halo: the count is negative.");
}

TEST_F(Arguments, AnEpochMustBeOpen) {
  MPI_Win_unlock(0, win_);
  EXPECT_NE(put(1, MPI_INT, 0, 0, 1, MPI_INT), MPI_SUCCESS);
  ASSERT_EQ(test::raised_errors().size(), 1U);
  EXPECT_EQ(test::raised_errors()[0].error_class, MPI_ERR_RMA_SYNC);
  EXPECT_EQ(memory_, initial);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win_);
}

}  // namespace
}  // namespace oriel::mpi
