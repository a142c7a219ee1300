// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/published.hpp"

namespace oriel {

/// Which addresses this process may load and store: what a peer names as private memory may be a
/// device's, protected, or gone. The kernel is asked about a page that has not been asked for
/// lately. By any thread.
class ReachablePages {
 public:
  bool contain(std::uint64_t address, std::uint64_t bytes, bool stored);
  /// The program may have mapped other memory since.
  void forget();

 private:
  static constexpr std::size_t most_kept = 1024;

  Published<std::uint64_t>& kept(std::uint64_t page);
  bool knows(std::uint64_t page, bool stored);

  // The page's address with these.
  static constexpr std::uint64_t loadable = 1;
  static constexpr std::uint64_t storable = 2;
  std::array<Published<std::uint64_t>, most_kept> kept_;
};

}  // namespace oriel
