// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "number.hpp"

namespace micro {

/// Windows and messages are measured by separate runs: a program without windows must not pay for
/// the library, and after the first window it is no longer such a program.
enum class Subject { windows, messages };

struct Options {
  Subject subject = Subject::windows;
  std::int64_t batches = 9;
  std::int64_t batch_us = 4000;   // how long one batch of rounds takes at least
  std::vector<std::string> rows;  // none: all

  Options(int argc, char** argv) {
    for (int index = 1; index < argc; index += 2) {
      const std::string_view name = argv[index];
      if (index + 1 == argc) fail("the option " + std::string(name) + " needs a value.");
      const std::string_view value = argv[index + 1];
      if (name == "--measure" && value == "windows") {
        subject = Subject::windows;
      } else if (name == "--measure" && value == "messages") {
        subject = Subject::messages;
      } else if (name == "--batches") {
        batches = number(name, value);
      } else if (name == "--batch-us") {
        batch_us = number(name, value);
      } else if (name == "--row") {
        rows.emplace_back(value);
      } else {
        fail("the option " + std::string(name) + " " + std::string(value) +
             " is unknown; use --measure windows or messages, --batches N, "
             "--batch-us MICROSECONDS, --row NAME (again for more rows).");
      }
    }
  }

  bool wants(std::string_view row) const {
    return rows.empty() || std::find(rows.begin(), rows.end(), row) != rows.end();
  }
};

}  // namespace micro
