// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/lock/sharers.hpp"

namespace oriel {

/// The wait of a rank for another rank that is within a few instructions which exclude others. It
/// ends when that rank has died.
template <typename Words>
class Patience {
 public:
  explicit Patience(typename SharersOf<Words>::Type& sharers) : sharers_(sharers) {}

  /// Called after the protocol's words were read and name `rank` as the rank to wait for. False if
  /// that rank had died before they were read, so that it will not change them.
  bool wait(std::uint32_t rank) {
    if (rank == ended_) return false;
    if (++rounds_ % Words::rounds_per_look == 0 && !sharers_.alive(rank)) ended_ = rank;
    sharers_.relax();
    loop_.again();
    return true;
  }
  /// Called when another rank was faster: the protocol's words must be read again.
  void retry() {
    sharers_.relax();
    loop_.again();
  }

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  typename SharersOf<Words>::Type& sharers_;
  std::uint32_t rounds_ = 0;
  std::uint32_t ended_ = nobody;
  [[no_unique_address]] typename Words::Loop loop_;
};

}  // namespace oriel
