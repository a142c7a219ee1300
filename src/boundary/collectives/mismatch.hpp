// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel::boundary {

/// The second half of a sentence: a rank sends something, and its receiver expects something else.
inline std::string mismatch(int sender, const std::string& sent, int receiver,
                            const std::string& expected) {
  return "rank " + std::to_string(sender) + " sends " + sent + " to rank " +
         std::to_string(receiver) + ", which expects " + expected;
}

}  // namespace oriel::boundary
