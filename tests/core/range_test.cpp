// SPDX-License-Identifier: BSD-3-Clause
// What reaches beyond a window is never taken for a place in it, however large the numbers.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

using Displacements = std::numeric_limits<std::int64_t>;

/// Two ranks of one node with eight words each, counted in words.
class Range : public ::testing::Test {
 protected:
  Range() {
    SimWindowSpec spec;
    spec.bytes = 64;
    spec.disp_unit = 8;
    job_.create_window(spec);
    EXPECT_EQ(window().lock_all({}), Error::none);
    std::uint64_t zero = 0;
    issue(window(), on_word(OperationKind::put, &zero, 1));  // from here on straight to memory
  }
  Window& window() { return job_.window(0); }
  std::byte* memory() { return job_.memory(1); }

  SimJob job_{std::vector<int>{0, 0}};
};

TEST_F(Range, EndsWithTheWindow) {
  EXPECT_EQ(window().find_address(1, 0, 64), memory());
  EXPECT_EQ(window().find_address(1, 7, 8), memory() + 56);
  EXPECT_EQ(window().find_address(1, 8, 0), memory() + 64);
  EXPECT_EQ(window().find_address(1, 7, 9), nullptr);
  EXPECT_EQ(window().find_address(1, 8, 1), nullptr);
  EXPECT_EQ(window().find_address(1, 9, 0), nullptr);
}

TEST_F(Range, DisplacementsDoNotWrap) {
  constexpr std::int64_t wraps = std::int64_t{1} << 61;  // times eight
  const std::uint64_t one = 1;
  for (const std::int64_t displacement :
       {wraps, wraps + 1, 2 * wraps, -wraps, -1L, Displacements::max(), Displacements::min()}) {
    EXPECT_EQ(window().find_address(1, displacement, 8), nullptr) << displacement;
    EXPECT_EQ(window().find_address(1, displacement, 0), nullptr) << displacement;
    EXPECT_FALSE(window().epochs().issue(on_word(OperationKind::put, &one, 1, displacement)).ok())
        << displacement;
  }
}

TEST_F(Range, BytesDoNotWrap) {
  for (const std::uint64_t bytes : {~std::uint64_t{0}, ~std::uint64_t{0} - 63, std::uint64_t{65}}) {
    EXPECT_EQ(window().find_address(1, 0, bytes), nullptr) << bytes;
    EXPECT_EQ(window().find_address(1, 1, bytes), nullptr) << bytes;
    EXPECT_EQ(window().find_address(1, 8, bytes), nullptr) << bytes;
  }
}

}  // namespace
}  // namespace oriel::test
