// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// What keeps a plan from being made: the same on all ranks.
struct PlanFault {
  enum class Kind : std::uint8_t {
    none,
    arguments,  // of one rank: `sender`; `sent` is what that rank's caller has said
    signature,  // two ranks' callers have different things in mind: `sent` and `space` say which
    unmatched,  // the receiver expects something that the sender does not know of
    truncated,  // more bytes are sent than their receiver has space for, if it has any
    types,      // both sides are made of predefined datatypes that do not match
    memory      // the rank `sender` has none left to share
  };

  Kind kind = Kind::none;
  std::int32_t sender = 0;
  std::int32_t receiver = 0;
  std::uint64_t sent = 0;
  std::uint64_t space = 0;

  explicit operator bool() const { return kind != Kind::none; }
};

}  // namespace oriel
