// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bench/failure.hpp"

// What goes to and fro: the number of the round in the first and in the last word, which is looked
// at in every round, and in between what changes with sender and batch, which is looked at after
// every batch.
namespace notify {

using Word = std::int64_t;

inline Word content(int sender, std::int64_t batch, std::size_t index) {
  return static_cast<Word>(
      (2 * static_cast<std::uint64_t>(batch) + static_cast<std::uint64_t>(sender) + 1) *
      (index + 40503u) * 2654435761u);
}

inline void fill(std::span<Word> words, int sender, std::int64_t batch) {
  for (std::size_t index = 1; index + 1 < words.size(); ++index) {
    words[index] = content(sender, batch, index);
  }
}

inline void stamp(std::span<Word> words, std::int64_t round) {
  if (words.empty()) return;
  words.front() = round;
  words.back() = round;
}

inline void expect_stamp(std::span<const Word> words, std::int64_t round) {
  if (words.empty() || (words.front() == round && words.back() == round)) [[likely]] {
    return;
  }
  bench::fail("the first and the last word that came in round " + std::to_string(round) + " are " +
              std::to_string(words.front()) + " and " + std::to_string(words.back()) +
              " and should be the number of the round.");
}

inline void expect(std::span<const Word> words, int sender, std::int64_t batch,
                   std::int64_t round) {
  expect_stamp(words, round);
  for (std::size_t index = 1; index + 1 < words.size(); ++index) {
    const Word expected = content(sender, batch, index);
    if (words[index] == expected) continue;
    bench::fail("word " + std::to_string(index) + " of " + std::to_string(words.size()) +
                " is after round " + std::to_string(round) + " " + std::to_string(words[index]) +
                " and should be " + std::to_string(expected) + ".");
  }
}

}  // namespace notify
