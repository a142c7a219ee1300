// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// The access epochs of one origin to one target that are complete, in one word that the origin
/// stores and the target reads (E8). With the reorder keys a later epoch may complete before an
/// earlier one, so a count alone would delay the report of the later one. The word is therefore a
/// count of complete epochs without a gap, and a bitmap of those behind the first gap. An epoch
/// more than `reach` behind the gap cannot be reported yet; its origin tries again.
class DoneWord {
 public:
  static constexpr unsigned reach = 20;

  constexpr DoneWord() = default;
  explicit constexpr DoneWord(std::uint64_t word) : word_(word) {}
  constexpr std::uint64_t word() const { return word_; }

  constexpr bool covers(std::uint64_t id) const {
    const std::uint64_t count = word_ >> reach;
    if (id <= count) return true;
    const std::uint64_t ahead = id - count - 1;
    return ahead < reach && ((word_ >> ahead) & 1) != 0;
  }

  /// Adds an epoch; false if it is out of reach for now.
  constexpr bool add(std::uint64_t id) {
    std::uint64_t count = word_ >> reach;
    std::uint64_t bits = word_ & ((std::uint64_t{1} << reach) - 1);
    const std::uint64_t ahead = id - count - 1;
    if (ahead >= reach) return false;
    bits |= std::uint64_t{1} << ahead;
    while ((bits & 1) != 0) {
      bits >>= 1;
      ++count;
    }
    word_ = (count << reach) | bits;
    return true;
  }

 private:
  std::uint64_t word_ = 0;
};

}  // namespace oriel
