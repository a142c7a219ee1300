// SPDX-License-Identifier: BSD-3-Clause
// G11: private memory of an exposed address space, which some ranks of the node map and others
// reach by system calls.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr int owner = 0;
constexpr int maps = 1;
constexpr int copies = 2;

class ExposedMemory : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  ExposedMemory() {
    job_.transport(copies).set_maps_private(false);
    SimWindowSpec spec;
    spec.bytes = 64;
    spec.memory = {Path::system_call, Path::load_store, Path::load_store};
    spec.exposed = true;
    spec.pieces = GetParam();
    job_.create_window(spec);
  }

  std::uint64_t word(std::size_t i = 0) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(owner) + i * sizeof value, sizeof value);
    return value;
  }
  Operation on(OperationKind kind, const std::uint64_t* origin, std::uint64_t place = 0) {
    return on_word(kind, origin, owner, job_.displacement(owner, 0, place));
  }
  Path path(int rank) {
    return job_.window(rank).dynamic()
               ? job_.window(rank).hot_protocol(owner, job_.displacement(owner, 0, 0),
                                                on(OperationKind::put, &one_).target_elements(),
                                                {}) == Protocol::system_call
                     ? Path::system_call
                     : Path::load_store
               : job_.window(rank).member(owner).path;
  }
  std::uint64_t calls(int rank) { return job_.transport(rank).copies(); }

  SimJob job_{{0, 0, 0}};
  const std::uint64_t one_ = 1;
};

INSTANTIATE_TEST_SUITE_P(Kinds, ExposedMemory, ::testing::Values(0, 2), [](const auto& one) {
  return one.param == 0 ? std::string("Window") : std::string("Attached");
});

TEST_P(ExposedMemory, IsMappedWhereThatIsPossible) {
  EXPECT_EQ(path(maps), Path::load_store);
  EXPECT_EQ(path(copies), Path::system_call);
  for (const int origin : {maps, copies}) {
    Window& window = job_.window(origin);
    ASSERT_EQ(window.lock(false, owner, {}), Error::none);
    issue(window, on(OperationKind::put, &one_, 8));
    std::byte* mapped = window.find_address(owner, job_.displacement(owner, 0, 8), 8);
    EXPECT_EQ(mapped, origin == maps ? job_.memory(owner) + 8 : nullptr);
    EXPECT_TRUE(window.unlock(owner, nullptr).done);
    EXPECT_EQ(word(1), 1u);
    std::memset(job_.memory(owner), 0, 64);
  }
  EXPECT_EQ(calls(maps), 0u);
  EXPECT_EQ(calls(copies), 1u);
}

// Updates of the rank that makes system calls are whole and exclude the CPU atomics of the others;
// 600 updates in a row give these the memory back.
TEST_P(ExposedMemory, UpdatesOfAllRanksAdd) {
  for (const int rank : {owner, maps, copies}) {
    ASSERT_EQ(job_.window(rank).lock(false, owner, {}), Error::none);
  }
  std::uint64_t sum = 0;
  for (const int origin : {owner, maps, copies, maps, owner, copies}) {
    for (int i = 0; i < (origin == copies ? 2 : 600); ++i) {
      issue(job_.window(origin), on(OperationKind::accumulate, &one_));
      ASSERT_EQ(word(), ++sum) << origin;
    }
  }
  EXPECT_EQ(calls(maps), 0u);
  for (const int rank : {owner, maps, copies}) {
    EXPECT_TRUE(job_.window(rank).unlock(owner, nullptr).done);
  }
}

/// Only windows with memory of their own.
class ExposedWindow : public ExposedMemory {};
INSTANTIATE_TEST_SUITE_P(Kinds, ExposedWindow, ::testing::Values(0));

// S4: the rank that grants a lock carries out the operation that came with the request, by system
// calls where it does not map the memory.
TEST_P(ExposedWindow, AGrantCarriesOutWhatItsRankCannotMap) {
  for (const OperationKind kind : {OperationKind::put, OperationKind::accumulate}) {
    const std::array<std::uint64_t, 2> values{5, 3};
    ASSERT_EQ(job_.window(copies).lock(true, owner, {}), Error::none);
    issue(job_.window(copies), on(OperationKind::put, values.data()));
    ASSERT_EQ(job_.window(maps).lock(true, owner, {}), Error::none);
    issue(job_.window(maps), on(kind, &values[1]));
    PostedCall unlocked;
    unlocked.take(job_.window(maps).unlock(owner, &unlocked));
    EXPECT_FALSE(unlocked.done());
    PostedCall other;
    other.take(job_.window(copies).unlock(owner, &other));
    const std::uint64_t at_once = word();
    job_.run_until_idle();
    EXPECT_TRUE(unlocked.done() && other.done());
    EXPECT_EQ(word(), kind == OperationKind::put ? 3u : 8u);
    EXPECT_EQ(at_once, word());  // the grant has carried it out
  }
  EXPECT_EQ(calls(maps), 0u);
}

// Q3: the query tells what this rank does.
TEST_P(ExposedWindow, IsIntrinsicForRanksThatMapIt) {
  const Reduction sum{Op::sum, Basic::u64, 8};
  EXPECT_TRUE(job_.window(maps).intrinsic(bit(Op::sum), sum, 1));
  EXPECT_TRUE(job_.window(owner).intrinsic(bit(Op::sum), sum, 1));
  EXPECT_FALSE(job_.window(copies).intrinsic(bit(Op::sum), sum, 1));
}

}  // namespace
}  // namespace oriel::test
