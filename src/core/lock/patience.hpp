// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// How long a rank waits for another one that is within a few instructions which exclude others:
/// as long as that one lives.
template <typename Words>
class Patience {
 public:
  explicit Patience(typename Words::Sharers& sharers) : sharers_(sharers) {}

  /// The words have been read and say that `rank` is waited for: false if that one had ended before
  /// they were read, so will never change them.
  bool wait(std::uint32_t rank) {
    if (rank == ended_) return false;
    if (++rounds_ % Words::rounds_per_look == 0 && !sharers_.alive(rank)) ended_ = rank;
    sharers_.relax();
    loop_.again();
    return true;
  }
  /// Another rank was faster; what has to be waited for has to be read again.
  void retry() {
    sharers_.relax();
    loop_.again();
  }

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  typename Words::Sharers& sharers_;
  std::uint32_t rounds_ = 0;
  std::uint32_t ended_ = nobody;
  [[no_unique_address]] typename Words::Loop loop_;
};

}  // namespace oriel
