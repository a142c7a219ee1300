// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace oriel {

/// Which machine, or container of one, this process runs in. Plain bytes, to travel through the
/// host's collectives.
struct Node {
  std::uint64_t id = 0;  // equal for all processes that might be able to share memory
  std::array<char, 64> name{};

  static const Node& here();
};

}  // namespace oriel
