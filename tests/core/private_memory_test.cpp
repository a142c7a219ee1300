// SPDX-License-Identifier: BSD-3-Clause
// Operations on private memory of a node peer: system calls, so they move as much as they can.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr std::int64_t word = sizeof(std::uint64_t);

class PrivateMemory : public ::testing::Test {
 protected:
  PrivateMemory() {
    SimWindowSpec spec;
    spec.bytes = words * sizeof(std::uint64_t);
    spec.memory = {Path::system_call, Path::system_call};
    job_.create_window(spec);
    for (std::size_t i = 0; i < words; ++i) set(i, 1000 * i);
    EXPECT_EQ(window().lock(true, 1, {}), Error::none);
    origin_.resize(words);
    std::iota(origin_.begin(), origin_.end(), std::uint64_t{1});
    result_.assign(words, 0);
  }
  ~PrivateMemory() override { EXPECT_TRUE(window().unlock(1, nullptr).done); }

  Window& window() { return job_.window(0); }
  void set(std::size_t place, std::uint64_t value) {
    std::memcpy(job_.memory(1) + place * sizeof value, &value, sizeof value);
  }
  std::uint64_t at(std::size_t place) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(1) + place * sizeof value, sizeof value);
    return value;
  }
  /// A sum of origin_ into the words at `places`, with the values before it in result_; how many
  /// copies it takes.
  std::uint64_t fetch_and_add(const std::vector<std::int64_t>& places, Op op = Op::sum) {
    std::vector<Block> blocks;
    for (const std::int64_t place : places) blocks.push_back({place * word, sizeof(std::uint64_t)});
    const auto packed = static_cast<std::int64_t>(places.size()) * word;
    Operation operation = on_word(OperationKind::accumulate, origin_.data(), 1);
    operation.kind = OperationKind::get_accumulate;
    operation.reduction.op = op;
    operation.target_layout =
        LayoutRef(new Layout(blocks, static_cast<std::int64_t>(words) * word, Basic::u64));
    operation.origin.layout =
        LayoutRef(new Layout({{0, static_cast<std::uint64_t>(packed)}}, packed, Basic::u64));
    operation.result = operation.origin;
    operation.result.address = result_.data();
    const std::uint64_t before = job_.transport(0).copies();
    issue(window(), operation);
    return job_.transport(0).copies() - before;
  }

  static constexpr std::size_t words = 32768;

  SimJob job_{{0, 0}};
  std::vector<std::uint64_t> origin_;
  std::vector<std::uint64_t> result_;
};

TEST_F(PrivateMemory, ScatteredAccumulatesAreFetchedAndStoredTogether) {
  for (const bool backwards : {false, true}) {
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < 2048; ++i) places.push_back(backwards ? 2 * (2047 - i) : 2 * i);
    std::vector<std::uint64_t> expected;
    for (const std::int64_t place : places) expected.push_back(at(static_cast<std::size_t>(place)));
    EXPECT_LE(fetch_and_add(places), 2u * 2048 / 64);
    for (std::size_t i = 0; i < places.size(); ++i) {
      ASSERT_EQ(result_[i], expected[i]);
      ASSERT_EQ(at(static_cast<std::size_t>(places[i])), expected[i] + origin_[i]);
      ASSERT_EQ(at(static_cast<std::size_t>(places[i]) + 1),
                1000 * static_cast<std::uint64_t>(places[i] + 1))
          << "between the blocks";
    }
    EXPECT_LE(fetch_and_add(places, Op::no_op), 2048u / 64) << "nothing to be stored back";
    EXPECT_EQ(result_[7], expected[7] + origin_[7]);
  }
}

// The columns of a matrix, one after the other: each reaches between the words of the one before.
TEST_F(PrivateMemory, InterleavedBlocksAreNotMistakenForOverlappingOnes) {
  std::vector<std::int64_t> places;
  for (std::int64_t column = 0; column < 32; ++column) {
    for (std::int64_t row = 0; row < 8; ++row) places.push_back(40 * row + column);
  }
  EXPECT_LE(fetch_and_add(places), 2u * 256 / 64);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto place = static_cast<std::size_t>(places[i]);
    ASSERT_EQ(at(place), 1000 * place + origin_[i]);
  }
}

// Erroneous in MPI, and still no sum is lost.
TEST_F(PrivateMemory, AnElementReachedTwiceIsUpdatedTwice) {
  fetch_and_add({9, 2, 4, 9, 9, 2});
  EXPECT_EQ(at(9), 9000u + 1 + 4 + 5);
  EXPECT_EQ(at(2), 2000u + 2 + 6);
  EXPECT_EQ(at(4), 4000u + 3);
  EXPECT_EQ(result_[3], 9000u + 1);
  EXPECT_EQ(result_[4], 9000u + 1 + 4);
}

// Longer than what is fetched at once, with a piece that is cut.
TEST_F(PrivateMemory, LongBlocksGoThroughInPieces) {
  std::vector<std::int64_t> places(words);
  std::iota(places.begin(), places.end(), 0);
  places.erase(places.begin() + 5000);
  fetch_and_add(places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto place = static_cast<std::size_t>(places[i]);
    ASSERT_EQ(result_[i], 1000 * place);
    ASSERT_EQ(at(place), 1000 * place + origin_[i]);
  }
  EXPECT_EQ(at(5000), 5000u * 1000);
}

// A datatype without data has no element whose size could be known.
TEST_F(PrivateMemory, NothingIsUpdatedByADatatypeWithoutElements) {
  Operation operation = on_word(OperationKind::accumulate, origin_.data(), 1);
  operation.reduction = {};
  operation.target_layout = operation.origin.layout = LayoutRef(new Layout({}, 0, Basic::none));
  issue(window(), operation);
  EXPECT_EQ(job_.transport(0).copies(), 0u);
  EXPECT_EQ(at(0), 0u);
  EXPECT_EQ(at(1), 1000u);
}

// Neither by its owner, whose atomics would not exclude the system calls of others.
TEST_F(PrivateMemory, IsNotUpdatedByCpuAtomics) {
  const Reduction sum{Op::sum, Basic::u64, sizeof(std::uint64_t)};
  for (const int rank : {0, 1}) EXPECT_TRUE(window().member(rank).private_memory);
  EXPECT_FALSE(window().intrinsic(bit(Op::sum), sum, 1));
}

// The rank that hands the lock on could not load and store the owner's memory.
TEST_F(PrivateMemory, AnOwnersOperationIsNotLeftWithItsLockRequest) {
  Window& owner = job_.window(1);
  const std::uint64_t value = 7;
  issue(window(), on_word(OperationKind::put, &origin_[0], 1, word));
  ASSERT_EQ(owner.lock(true, 1, {}), Error::none);
  issue(owner, on_word(OperationKind::put, &value, 1));
  PostedCall unlocked;
  unlocked.take(owner.unlock(1, &unlocked));
  ASSERT_FALSE(unlocked.done()) << "rank 0 has the lock";
  EXPECT_TRUE(window().unlock(1, nullptr).done);
  job_.run_until_idle();
  EXPECT_TRUE(unlocked.done());
  EXPECT_EQ(at(0), value);
  ASSERT_EQ(window().lock(true, 1, {}), Error::none);
}

}  // namespace
}  // namespace oriel::test
