// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace oriel {

/// The lengths of the blocks of an exchange between nodes that one rank has to know: those of the
/// blocks that it sends and receives, and those of all blocks between its node and the nodes that
/// it serves.
class BlockLengths {
 public:
  using Word = std::uint32_t;
  /// The word of a block that is too long to be gathered with others.
  static constexpr Word goes_directly = ~Word{0};

  /// All blocks have one length.
  explicit BlockLengths(Word bytes) : common_(bytes) {}
  /// `to`, `from`: by rank. `between`: by the pair numbers of gathered_alltoallw().
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
