// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/pieces/handle_words.hpp"
#include "core/pieces/piece_words.hpp"

namespace oriel {

/// What a rank of a dynamic window lets its node read of its memory. Zeroed memory is one of a rank
/// that has neither attached anything nor made a handle.
struct SharedPieces {
  PieceRoot attached;
  HandleRoot handles;
};

}  // namespace oriel
