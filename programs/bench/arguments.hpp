// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "failure.hpp"

namespace bench {

/// Name and value of every option on the command line; each option has a value.
inline std::vector<std::pair<std::string_view, std::string_view>> arguments(int argc, char** argv) {
  std::vector<std::pair<std::string_view, std::string_view>> result;
  for (int index = 1; index < argc; index += 2) {
    if (index + 1 == argc) fail("the option " + std::string(argv[index]) + " needs a value.");
    result.emplace_back(argv[index], argv[index + 1]);
  }
  return result;
}

}  // namespace bench
