// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel::boundary {

/// As the second half of a sentence: what a rank sends, and that its receiver expects something
/// else.
inline std::string mismatch(int sender, const std::string& sent, int receiver,
                            const std::string& expected) {
  return "rank " + std::to_string(sender) + " sends " + sent + " to rank " +
         std::to_string(receiver) + ", which expects " + expected;
}

}  // namespace oriel::boundary
