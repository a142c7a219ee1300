// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "failure.hpp"

namespace bench {

/// The value of an option that takes a whole number above 0.
inline std::int64_t number(std::string_view option, std::string_view value) {
  std::int64_t result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc{} || end != value.data() + value.size() || result <= 0) {
    fail("the option " + std::string(option) + " needs a whole number above 0, not \"" +
         std::string(value) + "\".");
  }
  return result;
}

}  // namespace bench
