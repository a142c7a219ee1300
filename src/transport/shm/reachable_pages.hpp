// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/published.hpp"

namespace oriel {

/// Checks whether this process may load or store an address: private memory that a peer names may
/// belong to a device, be protected, or be unmapped. Keeps the answers of the kernel for the pages
/// checked last. Used by any thread.
class ReachablePages {
 public:
  bool contain(std::uint64_t address, std::uint64_t bytes, bool stored);
  /// The kernel's answer for one address. It is not kept: the program may protect the memory.
  static bool storable_now(std::uint64_t address);
  /// Discards the kept answers, because the program may have mapped other memory.
  void forget();

 private:
  static constexpr std::size_t most_kept = 1024;

  Published<std::uint64_t>& kept(std::uint64_t page);
  bool knows(std::uint64_t page, bool stored);

  // An entry of kept_ is the page's address with these bits.
  static constexpr std::uint64_t loadable = 1;
  static constexpr std::uint64_t storable = 2;
  std::array<Published<std::uint64_t>, most_kept> kept_;
};

}  // namespace oriel
