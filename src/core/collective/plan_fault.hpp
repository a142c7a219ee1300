// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// The reason why a plan cannot be made, the same on all ranks.
struct PlanFault {
  enum class Kind : std::uint8_t {
    none,
    arguments,  // those of rank `sender` are invalid; `sent` is PlanTerms::bad_arguments
    signature,  // `sender` and `receiver` have different signatures: `sent` and `space`
    unmatched,  // the receiver has a receive without a send
    truncated,  // more bytes are sent than the receiver has space for, or it has none
    types,      // the predefined datatypes of both sides do not match
    memory      // rank `sender` cannot share `sent` bytes with its node
  };

  Kind kind = Kind::none;
  std::int32_t sender = 0;
  std::int32_t receiver = 0;
  std::uint64_t sent = 0;
  std::uint64_t space = 0;

  explicit operator bool() const { return kind != Kind::none; }
};

}  // namespace oriel
