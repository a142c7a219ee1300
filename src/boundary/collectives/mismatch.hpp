// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel::boundary {

/// The reason of a Failure: what the sender sends is not what the receiver expects.
inline std::string mismatch(int sender, const std::string& sent, int receiver,
                            const std::string& expected) {
  return "rank " + std::to_string(sender) + " sends " + sent + " to rank " +
         std::to_string(receiver) + ", which expects " + expected;
}

}  // namespace oriel::boundary
