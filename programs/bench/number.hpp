// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "failure.hpp"

namespace bench {

/// The value of an option that takes a whole number above 0 and up to a limit.
inline std::int64_t number(std::string_view option, std::string_view value,
                           std::int64_t limit = std::numeric_limits<std::int64_t>::max()) {
  std::int64_t result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc{} || end != value.data() + value.size() || result <= 0) {
    fail("the option " + std::string(option) + " needs a whole number above 0, not \"" +
         std::string(value) + "\".");
  }
  if (result > limit) {
    fail("the option " + std::string(option) + " is at most " + std::to_string(limit) + ", not " +
         std::to_string(result) + ".");
  }
  return result;
}

}  // namespace bench
