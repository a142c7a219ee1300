// SPDX-License-Identifier: BSD-3-Clause
// B2: what a process shows of its wait is read as it was shown, at one moment, or not at all.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "transport/shm/process_block.hpp"

namespace oriel::test {
namespace {

ShownWait numbered(std::uint64_t number) {
  const auto half = static_cast<std::uint32_t>(number);
  ShownWait wait{half, half, number, {number, number, number, number}, half, 0, {}};
  wait.window_name.fill(static_cast<char>(number));
  return wait;
}

TEST(WaitSign, ShowsOneWaitOrNone) {
  WaitSign sign;
  EXPECT_FALSE(sign.read().has_value());
  sign.show(numbered(7));
  EXPECT_EQ(sign.read(), numbered(7));
  sign.show(numbered(8));
  EXPECT_EQ(sign.read(), numbered(8));
  sign.clear();
  EXPECT_FALSE(sign.read().has_value());
}

TEST(WaitSign, ReadersSeeWhatWasShownAtOneMoment) {
  constexpr std::uint64_t shows = 20'000;
  WaitSign sign;
  std::atomic<bool> over{false};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      while (!over.load()) {
        const auto seen = sign.read();
        if (!seen.has_value()) continue;
        ASSERT_EQ(*seen, numbered(seen->since));
        ASSERT_GE(seen->since, last);
        last = seen->since;
      }
    });
  }
  for (std::uint64_t number = 1; number <= shows; ++number) sign.show(numbered(number));
  over.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(sign.read(), numbered(shows));
}

}  // namespace
}  // namespace oriel::test
