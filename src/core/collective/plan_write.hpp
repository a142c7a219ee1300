// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/pool.hpp"

namespace oriel {

class RemoteLanes;

/// A direct write of a plan that is in flight.
struct PlanWrite {
  RemoteLanes* lanes = nullptr;
  std::uint32_t send = 0;   // index of the send in the lanes
  std::uint64_t begun = 0;  // bytes of the transfers that have begun
  std::uint64_t over = 0;   // bytes of the transfers that are over
  bool announced = false;   // its notification has been sent with the last transfer
  Error error = Error::none;
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() {
    begun = over = 0;
    announced = false;
    error = Error::none;
  }
};

/// The direct writes of all plans of a process.
class PlanWrites {
 public:
  PlanWrite& acquire() { return pool_.acquire(); }
  void release(PlanWrite& one) { pool_.release(one); }
  /// The token of the transfers of `one`, different from those of all other objects: no index of a
  /// pool reaches the bit `beyond_any_index`, and tokens of Rendezvous have the next higher bit.
  static std::uint64_t token(const PlanWrite& one) {
    return Pool<PlanWrite>::token(one) | beyond_any_index;
  }
  /// The write of a token; null if there is none or it is over.
  PlanWrite* find(std::uint64_t token) {
    return (token & beyond_any_index) != 0 ? pool_.find(token & ~beyond_any_index) : nullptr;
  }

 private:
  static constexpr std::uint64_t beyond_any_index = std::uint64_t{1} << 30;

  Pool<PlanWrite> pool_;
};

}  // namespace oriel
