// SPDX-License-Identifier: BSD-3-Clause
// A copy past the caches is a copy, wherever it begins and however long it is.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "core/base/copies.hpp"

namespace oriel::test {
namespace {

TEST(StreamCopy, CopiesWhatItIsToldAndNothingElse) {
  std::array<std::byte, 200> from;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
  for (std::size_t begin = 0; begin < 33; ++begin) {
    for (std::size_t bytes = 0; bytes < 130; ++bytes) {
      std::array<std::byte, 200> to{};
      stream_copy(to.data() + begin, from.data() + 3, bytes);
      for (std::size_t i = 0; i < to.size(); ++i) {
        const bool copied = i >= begin && i < begin + bytes;
        ASSERT_EQ(to[i], copied ? from[i - begin + 3] : std::byte{0})
            << "byte " << i << " of " << bytes << " from " << begin << " on";
      }
    }
  }
}

}  // namespace
}  // namespace oriel::test
