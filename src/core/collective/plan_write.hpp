// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/pool.hpp"

namespace oriel {

class RemoteLanes;

/// A direct write of a plan that is under way.
struct PlanWrite {
  RemoteLanes* lanes = nullptr;
  std::uint32_t send = 0;   // of the lanes
  std::uint64_t begun = 0;  // bytes, of transfers that have begun,
  std::uint64_t over = 0;   // and of those that are over
  bool announced = false;   // its message has gone with it
  Error error = Error::none;
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() {
    begun = over = 0;
    announced = false;
    error = Error::none;
  }
};

/// Those of a process.
class PlanWrites {
 public:
  PlanWrite& acquire() { return pool_.acquire(); }
  void release(PlanWrite& one) { pool_.release(one); }
  /// A name for its transfers, which is that of nothing else: no pool has so many objects, and a
  /// Rendezvous has the bit above.
  static std::uint64_t token(const PlanWrite& one) {
    return Pool<PlanWrite>::token(one) | beyond_any_index;
  }
  /// Null: the name is not of one, or of one that is over.
  PlanWrite* find(std::uint64_t token) {
    return (token & beyond_any_index) != 0 ? pool_.find(token & ~beyond_any_index) : nullptr;
  }

 private:
  static constexpr std::uint64_t beyond_any_index = std::uint64_t{1} << 30;

  Pool<PlanWrite> pool_;
};

}  // namespace oriel
