// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace oriel {

/// How long the blocks of an exchange between nodes are, as far as one rank has to know: of those
/// that it sends and receives, and of all between its node and the nodes that it looks after.
class BlockLengths {
 public:
  using Word = std::uint32_t;
  /// Of a block that is not gathered with others, because it is long.
  static constexpr Word goes_directly = ~Word{0};

  /// The same of all.
  explicit BlockLengths(Word bytes) : common_(bytes) {}
  /// `to`, `from`: by rank. `between`: by pair of ranks, as gathered_alltoallw() counts them.
  BlockLengths(std::vector<Word> to, std::vector<Word> from, std::vector<Word> between)
      : to_(std::move(to)), from_(std::move(from)), between_(std::move(between)) {}

  Word to(int rank) const { return of(to_, static_cast<std::size_t>(rank)); }
  Word from(int rank) const { return of(from_, static_cast<std::size_t>(rank)); }
  Word between(std::uint64_t pair) const { return of(between_, pair); }

 private:
  Word of(const std::vector<Word>& words, std::size_t at) const {
    return words.empty() ? common_ : words[at];
  }

  Word common_ = 0;
  std::vector<Word> to_;
  std::vector<Word> from_;
  std::vector<Word> between_;
};

}  // namespace oriel
