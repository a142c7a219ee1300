// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "bench/window.hpp"
#include "open_window.hpp"

namespace cholesky {

/// A ring of slots at each rank, into which others write numbers. Every access to a slot is a
/// compare and swap: MPI lets different accumulate calls meet on a word only where they are of one
/// kind, and a put there would conflict with the owner's looks.
///
/// A writer draws a ticket, whose slot may still hold the number of an earlier one: then it has to
/// come again. Where the writers of two tickets wait for one slot, either may be the first.
class Ring {
 public:
  using Word = std::int64_t;

  Ring(bench::Memory memory, std::int64_t slots)
      : slots_(slots), window_(memory, static_cast<std::size_t>(slots + 1) * sizeof(Word)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }

  /// The ticket is there after `flush`.
  void draw(int target, Word* ticket) {
    MPI_Fetch_and_op(&one_, ticket, MPI_INT64_T, target, 0, MPI_SUM, window_.handle());
  }

  void flush(int target) { MPI_Win_flush(target, window_.handle()); }

  /// Whether there was space for the number (0 or more).
  bool write(int target, Word ticket, Word number) {
    return swap(target, ticket, empty, number + 1) == empty;
  }

  /// The oldest number in this rank's own ring, which is taken out of it.
  std::optional<Word> take() {
    const Word found = swap(rank_, taken_, empty, empty);
    if (found == empty) return std::nullopt;
    swap(rank_, taken_, found, empty);
    ++taken_;
    return found - 1;
  }

 private:
  static constexpr Word empty = 0;

  /// Returns what was there.
  Word swap(int target, Word ticket, Word expected, Word replacement) {
    Word found = 0;
    const auto slot = static_cast<MPI_Aint>((1 + ticket % slots_) * Word{sizeof(Word)});
    MPI_Compare_and_swap(&replacement, &expected, &found, MPI_INT64_T, target, slot,
                         window_.handle());
    flush(target);
    return found;
  }

  const Word one_ = 1;
  Word slots_;
  OpenWindow window_;  // how many tickets were drawn, and the slots
  int rank_ = 0;
  Word taken_ = 0;
};

}  // namespace cholesky
