// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace oriel {

/// The machine, or the container on it, that this process runs in. Plain bytes, so that the host's
/// collectives can transfer it.
struct Node {
  std::uint64_t id = 0;  // equal for all processes that might be able to share memory
  std::array<char, 64> name{};

  static const Node& here();
};

}  // namespace oriel
