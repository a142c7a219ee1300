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

 private:
  static constexpr std::size_t most_kept = 1024;

  bool contain_page(std::uint64_t page, bool stored);

  // Twice the page's address, + 1: stored to. Zero: none, for nothing is at the address 0.
  std::array<Published<std::uint64_t>, most_kept> kept_;
};

}  // namespace oriel
