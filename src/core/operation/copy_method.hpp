// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <iterator>

namespace oriel {

/// How the bytes of a collective's transfer are copied on the node, in the order in which CopyTrial
/// tries the methods.
enum class CopyMethod : std::uint8_t {
  staged,    // through cells
  streamed,  // through cells that the sender writes past its caches: see stream_copy()
  one_copy   // directly from buffer to buffer
};
inline constexpr int copy_methods = static_cast<int>(CopyMethod::one_copy) + 1;
constexpr const char* name_of(CopyMethod method) {
  constexpr const char* names[] = {"copies by cells", "copies by streamed cells",
                                   "copies without cells"};
  static_assert(std::size(names) == copy_methods);
  return names[static_cast<int>(method)];
}

}  // namespace oriel
