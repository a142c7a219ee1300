// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace oriel::test {
namespace {

TEST(ShortCopy, IsAMemmoveOfAnyLength) {
  for (std::size_t bytes = 0; bytes <= 80; ++bytes) {
    for (std::ptrdiff_t shift = -40; shift <= 40; ++shift) {  // overlapping, or not
      std::array<unsigned char, 200> expected;
      std::iota(expected.begin(), expected.end(), static_cast<unsigned char>(1));
      std::array<unsigned char, 200> copied = expected;
      std::memmove(expected.data() + 60 + shift, expected.data() + 60, bytes);
      short_copy(copied.data() + 60 + shift, copied.data() + 60, bytes);
      ASSERT_EQ(copied, expected) << bytes << " bytes by " << shift;
    }
  }
}

}  // namespace
}  // namespace oriel::test
