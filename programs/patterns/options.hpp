// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/epochs.hpp"
#include "bench/failure.hpp"

namespace patterns {

using bench::Mode;

struct Options {
  std::string pattern;
  Mode mode = Mode::blocking;
  int iterations = 100;
  double work_us = 1000;
  std::vector<std::size_t> sizes;  // none: the pattern's own

  Options(int argc, char** argv) {
    for (int index = 1; index < argc; index += 2) {
      const std::string_view name = argv[index];
      if (index + 1 == argc) bench::fail("the option " + std::string(name) + " needs a value.");
      const std::string_view value = argv[index + 1];
      if (name == "--pattern") {
        pattern = value;
      } else if (name == "--mode" && value == "blocking") {
        mode = Mode::blocking;
      } else if (name == "--mode" && value == "nonblocking") {
        mode = Mode::nonblocking;
      } else if (name == "--iterations") {
        iterations = static_cast<int>(number(name, value));
      } else if (name == "--work") {
        work_us = static_cast<double>(number(name, value));
      } else if (name == "--size") {
        sizes.push_back(number(name, value));
      } else {
        bench::fail(
            "the option " + std::string(name) + " " + std::string(value) +
            " is unknown; use --pattern NAME, --mode blocking or nonblocking, --iterations N, "
            "--work MICROSECONDS, --size BYTES (again for more sizes).");
      }
    }
  }

 private:
  static std::size_t number(std::string_view name, std::string_view value) {
    std::size_t result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc{} || end != value.data() + value.size() || result == 0) {
      bench::fail("the option " + std::string(name) + " needs a whole number above 0, not \"" +
                  std::string(value) + "\".");
    }
    return result;
  }
};

}  // namespace patterns
