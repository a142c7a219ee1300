// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "grid.hpp"

namespace halo {

using Word = std::int64_t;

/// What a rank sends to each side, and what it must have received from there. The first and the
/// last word of a message carry its step, sender and side.
class Cells {
 public:
  Cells(const Grid& grid, std::size_t bytes)
      : grid_(grid), words_(bytes / sizeof(Word)), outgoing_(sides * words_) {
    for (int side = 0; side < sides; ++side) {
      for (std::size_t index = 0; index < words_; ++index) {
        outgoing_[side * words_ + index] = content(grid.rank(), side, index);
      }
    }
  }

  /// Words of one message; the ghost cells of a rank are one message per side.
  std::size_t words() const { return words_; }
  const Word* outgoing(int side) const { return &outgoing_[side * words_]; }

  void stamp(std::int64_t step) {
    for (int side = 0; side < sides; ++side) {
      outgoing_[side * words_] = stamp(step, grid_.rank(), side);
      outgoing_[(side + 1) * words_ - 1] = stamp(step, grid_.rank(), side);
    }
  }

  /// Ends the job unless the ghost cells are what the neighbours sent in this step.
  void expect(std::span<const Word> ghosts, std::int64_t step) const {
    for (int side = 0; side < sides; ++side) {
      const int sender = grid_.neighbour(side);
      for (std::size_t index = 0; index < words_; ++index) {
        const bool marked = index == 0 || index + 1 == words_;
        const Word expected =
            marked ? stamp(step, sender, opposite(side)) : content(sender, opposite(side), index);
        const Word found = ghosts[side * words_ + index];
        if (found == expected) continue;
        bench::fail("after step " + std::to_string(step) + " ghost cell " + std::to_string(index) +
                    " on side " + std::to_string(side) + " of rank " +
                    std::to_string(grid_.rank()) + " is " + std::to_string(found) +
                    " and should be " + std::to_string(expected) + " from rank " +
                    std::to_string(sender) + ".");
      }
    }
  }

 private:
  Word stamp(std::int64_t step, int sender, int side) const {
    return (step * grid_.size() + sender) * sides + side;
  }
  static Word content(int sender, int side, std::size_t index) {
    return (Word{sender} * sides + side) * 2654435761 + static_cast<Word>(index) * 40503;
  }

  const Grid& grid_;
  std::size_t words_;
  std::vector<Word> outgoing_;
};

}  // namespace halo
