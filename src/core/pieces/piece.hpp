// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/transport/arena_location.hpp"

namespace oriel {

/// A piece of memory attached to a dynamic window (MPI-4.1 section 12.2.4).
struct Piece {
  std::uint64_t address = 0;  // in its owner's process
  std::uint64_t bytes = 0;
  ArenaLocation place;  // where the owner's node can map it, if it can

  /// How many of its bytes lie at `where` and behind; 0: that is not in it.
  std::uint64_t left(std::uint64_t where) const {
    return where - address < bytes ? bytes - (where - address) : 0;
  }
};

}  // namespace oriel
