// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace transactions {

/// One update: a value that is added to a word of some other rank.
struct Update {
  int target = 0;
  std::int64_t word = 0;
  std::int64_t value = 0;
};

/// Draws updates. A copy draws the same ones again. The generator is SplitMix64.
class Draw {
 public:
  Draw(int rank, int ranks, std::int64_t words)
      : rank_(rank), ranks_(ranks), words_(words), state_(static_cast<std::uint64_t>(rank) << 32) {}

  Update next() {
    const std::uint64_t bits = mix();
    Update update;
    const int other = static_cast<int>(below(bits >> 32, static_cast<std::uint64_t>(ranks_ - 1)));
    update.target = other < rank_ ? other : other + 1;
    update.word =
        static_cast<std::int64_t>(below(bits & 0xFFFF'FFFFu, static_cast<std::uint64_t>(words_)));
    update.value = static_cast<std::int64_t>(bits >> 40);
    return update;
  }

 private:
  /// Of 32 random bits.
  static std::uint64_t below(std::uint64_t bits, std::uint64_t limit) {
    return (bits * limit) >> 32;
  }

  std::uint64_t mix() {
    std::uint64_t bits = state_ += 0x9E37'79B9'7F4A'7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58'476D'1CE4'E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D0'49BB'1331'11EBu;
    return bits ^ (bits >> 31);
  }

  int rank_;
  int ranks_;
  std::int64_t words_;
  std::uint64_t state_;
};

}  // namespace transactions
