// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/pieces/handle_words.hpp"
#include "core/pieces/piece_words.hpp"

namespace oriel {

/// The words in which a rank of a dynamic window describes its memory to its node. Zeroed memory:
/// no piece attached, no handle created.
struct SharedPieces {
  PieceRoot attached;
  HandleRoot handles;
};

}  // namespace oriel
