// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mpi/collectives/algorithm.hpp"

namespace oriel::mpi {

enum class CollectiveKind : std::uint8_t {
  alltoallv,
  alltoall,
  alltoallw,
  allgatherv,
  bcast,
  reduce,
  neighbor_alltoallv
};

/// The values that must be equal on all ranks that make a collective, as 63 bits: its kind, the
/// value of the info key, the root, and a hash of sizes and ops.
class Signature {
 public:
  Signature(CollectiveKind kind, Algorithm algorithm)
      : word_(static_cast<std::uint64_t>(kind) << kind_shift | static_cast<std::uint64_t>(algorithm)
                                                                   << algorithm_shift) {}
  explicit Signature(std::uint64_t word) : word_(word) {}

  Signature& with_root(int root) {
    word_ |= (static_cast<std::uint64_t>(root) & root_mask) << root_shift;
    return *this;
  }
  Signature& with(std::uint64_t value) {
    std::uint64_t hash = (word_ & hash_mask) ^ value;
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15;
    word_ = (word_ & ~hash_mask) | hash >> 32;
    return *this;
  }

  std::uint64_t word() const { return word_; }
  CollectiveKind kind() const { return static_cast<CollectiveKind>(word_ >> kind_shift); }
  int root() const { return static_cast<int>(word_ >> root_shift & root_mask); }
  /// Returns whether the kind and the value of the info key are equal.
  bool same_way(const Signature& other) const {
    return word_ >> algorithm_shift == other.word_ >> algorithm_shift;
  }

 private:
  static constexpr unsigned root_shift = 32;
  static constexpr unsigned algorithm_shift = 56;
  static constexpr unsigned kind_shift = 59;
  static_assert(static_cast<unsigned>(Algorithm::automatic) < 1U << (kind_shift - algorithm_shift),
                "the last algorithm has to fit in front of the kind");
  static constexpr std::uint64_t hash_mask = 0xffffffff;
  static constexpr std::uint64_t root_mask = 0xffffff;

  std::uint64_t word_;
};

}  // namespace oriel::mpi
