// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "support/check.hpp"

namespace stress {

/// What lies where in the memory that a rank exposes: words that all threads of all ranks update,
/// what the left neighbour's threads tell, and a lot of each thread of each rank.
class Area {
 public:
  /// 64-bit words. `guarded` is written by whoever has `lock`, `excluded` under MPI's own lock.
  enum Word { sum, greatest, parity, ticket, lock, guarded, excluded, words };
  /// 32-bit words: more than an update of single elements takes.
  static constexpr int row_words = 640;
  static constexpr MPI_Aint flag_bytes = 8;

  Area(int ranks, int threads, MPI_Aint lot) : ranks_(ranks), threads_(threads), lot_(lot) {}

  static MPI_Aint word(Word word) { return word * MPI_Aint{8}; }
  static MPI_Aint row(int index) { return word(words) + index * MPI_Aint{4}; }
  MPI_Aint flag(int thread) const { return row(row_words) + thread * (flag_bytes + text_bytes()); }
  MPI_Aint text(int thread) const { return flag(thread) + flag_bytes; }
  /// Where lots are long, so long that no single message between nodes takes it.
  MPI_Aint text_bytes() const { return lot_ > 64 * 1024 ? 96 * 1024 : 248; }
  MPI_Aint lots() const { return flag(threads_); }
  MPI_Aint lot(int origin, int thread) const {
    return lots() + (origin * threads_ + thread) * lot_;
  }
  MPI_Aint lot_bytes() const { return lot_; }
  MPI_Aint bytes() const { return lot(ranks_, 0); }

 private:
  int ranks_;
  int threads_;
  MPI_Aint lot_;
};

}  // namespace stress
