// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets of any datatypes by the hot path (G4, G8): what it does not decline it does as the
// general path does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "support/calls.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr std::uint64_t bytes = 512;
constexpr std::int64_t start = 256;  // of the buffer's first element: others may lie before it

struct Case {
  const char* name;
  Path path;
  std::uint64_t pieces;
  bool handle;
};

/// Two windows of the same bytes: of the one and of the other path.
class Gaps : public ::testing::TestWithParam<Case> {
 protected:
  Gaps() {
    SimWindowSpec spec;
    spec.bytes = bytes;
    spec.disp_unit = GetParam().pieces == 0 ? 2 : 1;
    spec.memory.assign(2, GetParam().path);
    spec.pieces = GetParam().pieces;
    for (const int window : {general, direct}) {
      job_.create_window(spec);
      EXPECT_EQ(origin(window).lock_all({}), Error::none);
      // The way to the target opens, and its only piece is known.
      issue(origin(window), on_word(OperationKind::put, &first_, 1, place(window, 0)));
    }
    job_.run_until_idle();
    for (auto& buffer : buffers_) {
      buffer.resize(2 * bytes);
      std::iota(buffer.begin(), buffer.end(), std::uint8_t{1});
    }
    if (GetParam().handle) open_handle();
  }
  ~Gaps() override {
    for (const int window : {general, direct}) EXPECT_TRUE(origin(window).unlock_all(nullptr).done);
  }

  /// Of all memory of the target.
  void open_handle() {
    const auto address = reinterpret_cast<std::uintptr_t>(job_.memory(1, direct));
    const bool is_private = GetParam().path == Path::system_call;
    view_.target = 1;
    view_.bytes = bytes;
    const MemoryRange piece{
        address, bytes,
        is_private ? ArenaLocation{} : SimTransport::location_of(job_.memory(1, direct))};
    ASSERT_EQ(job_.window(1, direct).create_handle(piece, view_.name), Error::none);
    ASSERT_EQ(origin(direct).open_handle(view_), Error::none);
  }
  Window& origin(int window) { return job_.window(0, window); }
  std::int64_t place(int window, std::int64_t displacement) {
    return job_.displacement(1, window, 0) + displacement;
  }
  /// Blocks at any places, which do not overlap.
  LayoutRef some_layout() {
    std::vector<Block> blocks;
    std::int64_t next = random_.between(-4, 12);
    const std::int64_t first = next;
    for (int i = random_.between(0, 4); i > 0; --i) {
      const int length = random_.between(1, 9);
      blocks.push_back({next, static_cast<std::uint64_t>(length)});
      next += length + random_.between(0, 5);
    }
    if (random_.chance(30)) std::reverse(blocks.begin(), blocks.end());
    return LayoutRef(new Layout(blocks, next - first + random_.between(0, 6), Basic::none));
  }
  bool try_move(bool write, std::int64_t displacement, const Elements& there, void* local,
                const Elements& own) {
    if (GetParam().handle) {
      return origin(direct).try_move(write, view_, displacement, there, local, own);
    }
    return origin(direct).try_move(write, 1, place(direct, displacement), there, local, own);
  }

  static constexpr int general = 0;
  static constexpr int direct = 1;

  SimJob job_{{0, 0}};
  HandleView view_;
  Random random_{3};
  std::uint64_t first_ = 0;
  std::vector<std::uint8_t> buffers_[2];
};

TEST_P(Gaps, AreWhatTheGeneralPathMakesOfThem) {
  int taken = 0;
  int errors = 0;
  for (int round = 0; round < 20'000; ++round) {
    const bool write = random_.chance(50);
    Operation operation;
    operation.kind = write ? OperationKind::put : OperationKind::get;
    operation.target = 1;
    const std::int64_t displacement = random_.between(-8, static_cast<int>(bytes) + 8);
    const auto unit = GetParam().handle || GetParam().pieces != 0 ? 1 : 2;
    operation.displacement = place(general, displacement / unit);
    operation.target_layout = some_layout();
    operation.target_count = static_cast<std::uint64_t>(random_.between(0, 5));
    Buffer& local = write ? operation.origin : operation.result;
    local.layout = random_.chance(30) ? operation.target_layout : some_layout();
    local.count = static_cast<std::uint64_t>(random_.between(0, 5));
    local.address = buffers_[general].data() + start;
    // Other numbers every time.
    for (int i = 0; i < 8; ++i) {
      const auto at = static_cast<std::size_t>(random_.below(2 * static_cast<int>(bytes)));
      buffers_[general][at] = buffers_[direct][at] = static_cast<std::uint8_t>(round + i);
    }
    if (!try_move(write, displacement / unit, operation.target_elements(),
                  buffers_[direct].data() + start, local.elements())) {
      // It has gone the general path.
      Operation same = operation;
      same.displacement = place(direct, displacement / unit);
      (write ? same.origin : same.result).address = buffers_[direct].data() + start;
      const Error error = origin(direct).epochs().issue(same).error;
      EXPECT_EQ(origin(general).epochs().issue(operation).error, error);
      errors += error != Error::none;
    } else {
      ++taken;
      ASSERT_EQ(origin(general).epochs().issue(operation).error, Error::none) << round;
    }
    ASSERT_EQ(buffers_[general], buffers_[direct]) << round;
    ASSERT_EQ(std::memcmp(job_.memory(1, general), job_.memory(1, direct), bytes), 0) << round;
  }
  EXPECT_GT(taken, 5'000);
  EXPECT_GT(errors, 100);
}

TEST_P(Gaps, OfOneElementReachUpToTheLastByte) {
  const Layout pair({{8, 4}, {16, 8}}, 32, Basic::none);
  const auto unit = GetParam().handle || GetParam().pieces != 0 ? 1 : 2;
  const auto fits = [&](std::int64_t displacement) {
    std::uint64_t values[4] = {};
    return try_move(true, displacement / unit, {pair, 1}, values, {pair, 1});
  };
  EXPECT_TRUE(fits(bytes - 24));
  EXPECT_FALSE(fits(bytes - 22));
  EXPECT_FALSE(fits(bytes));
  // Lies in the window, but begins behind it.
  std::uint64_t value = 0;
  const Layout back({{-8, 4}}, 8, Basic::none);
  EXPECT_FALSE(try_move(true, (bytes + 2) / unit, {back, 1}, &value + 1, {back, 1}));
  // Of attached memory it is an address as good as any.
  EXPECT_EQ(fits(-2), GetParam().pieces != 0 && !GetParam().handle);
}

INSTANTIATE_TEST_SUITE_P(Windows, Gaps,
                         ::testing::Values(Case{"Mapped", Path::load_store, 0, false},
                                           Case{"Private", Path::system_call, 0, false},
                                           Case{"Dynamic", Path::load_store, 1, false},
                                           Case{"Handle", Path::load_store, 1, true},
                                           Case{"PrivateHandle", Path::system_call, 1, true}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace oriel::test
