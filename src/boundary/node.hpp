// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace oriel::boundary {

/// Which machine this process runs on. Plain bytes, to travel through the host's collectives.
struct Node {
  std::uint64_t id = 0;  // equal exactly for processes that can share memory
  std::array<char, 64> name{};

  static const Node& here();
};

}  // namespace oriel::boundary
