// SPDX-License-Identifier: BSD-3-Clause
// A million nonblocking epochs pending in one process (E10): they complete, in the order they were
// opened, and their memory is that of the recorded operations and nothing that grows faster.
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr std::uint64_t epochs = 1'000'000;

/// Completions come in the order of their epochs.
class Counter final : public Completion {
 public:
  void complete(Error error) override {
    EXPECT_EQ(error, Error::none);
    ++completed_;
  }
  std::uint64_t completed() const { return completed_; }

 private:
  std::uint64_t completed_ = 0;
};

std::size_t allocated() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// AddressSanitizer's allocator does not tell mallinfo.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool measures_memory = false;
#else
constexpr bool measures_memory = true;
#endif

class Pending : public ::testing::Test {
 protected:
  Pending() : job_({0, 0}) {
    SimWindowSpec spec;
    spec.bytes = 64;
    job_.create_window(spec);
  }

  /// Rank 0 puts the numbers from `first` on to rank 1, each in an access epoch of its own.
  void record(std::uint64_t first) {
    Window& origin = job_.window(0);
    const std::array<int, 1> group = {1};
    for (std::uint64_t i = 0; i < epochs; ++i) {
      values_[i] = first + i;
      ASSERT_EQ(origin.epochs().start(group, {}), Error::none);
      issue(origin, on_word(OperationKind::put, &values_[i], 1));
      const Outcome outcome = origin.epochs().complete(&counter_);
      ASSERT_EQ(outcome.error, Error::none);
      if (outcome.done) counter_.complete(Error::none);
    }
  }
  /// Rank 1 opens the exposures one by one and looks at what each of them brought.
  void expose(std::uint64_t first) {
    Window& target = job_.window(1);
    const std::array<int, 1> group = {0};
    for (std::uint64_t i = 0; i < epochs; ++i) {
      PostedCall posted;
      ASSERT_EQ(target.epochs().post(group, {}), Error::none);
      posted.take(target.epochs().wait(&posted));
      while (!posted.done()) ASSERT_TRUE(job_.round());
      std::uint64_t found = 0;
      std::memcpy(&found, job_.memory(1), sizeof found);
      ASSERT_EQ(found, first + i);
    }
    job_.run_until_idle();
  }

  SimJob job_;
  Counter counter_;
  std::vector<std::uint64_t> values_ = std::vector<std::uint64_t>(epochs);
};

TEST_F(Pending, AMillionEpochsCompleteInBoundedMemory) {
  const std::size_t before = allocated();
  record(1);
  const std::size_t recorded = allocated();
  const std::size_t each = sizeof(Epoch) + sizeof(RecordedOperation);
  if (measures_memory) {
    // The pools grow by blocks; a tenth more is theirs.
    EXPECT_LE(recorded - before, epochs * each * 11 / 10);
  }
  expose(1);
  EXPECT_EQ(counter_.completed(), epochs);
  EXPECT_EQ(job_.process(0).pending(), 0u);
  EXPECT_TRUE(job_.window(0).epochs().quiet());

  // What has been given back is used again.
  const std::size_t once = allocated();
  record(epochs + 1);
  if (measures_memory) {
    EXPECT_LE(allocated() - once, epochs * each / 100);
  }
  expose(epochs + 1);
  EXPECT_EQ(counter_.completed(), 2 * epochs);
}

}  // namespace
}  // namespace oriel::test
