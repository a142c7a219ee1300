// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "core/operation/reduction.hpp"

namespace oriel {

/// Returns whether data sent as type `one` may be received as type `other`. Only numbers of more
/// than a byte are compared: programs use bytes and characters for any data, and signed numbers for
/// unsigned ones.
constexpr bool match_types(Basic one, Basic other) {
  const auto kind = [](Basic basic) -> std::pair<int, bool> {
    switch (basic) {
      case Basic::i16:
      case Basic::u16:
        return {2, false};
      case Basic::i32:
      case Basic::u32:
        return {4, false};
      case Basic::i64:
      case Basic::u64:
        return {8, false};
      case Basic::f32:
        return {4, true};
      case Basic::f64:
        return {8, true};
      default:
        return {0, false};
    }
  };
  return kind(one).first == 0 || kind(other).first == 0 || kind(one) == kind(other);
}

}  // namespace oriel
