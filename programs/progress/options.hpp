// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "exposures/kinds.hpp"

namespace progress {

struct Options {
  std::vector<exposures::Kind> windows;
  std::int64_t operations = 100'000;
  std::int64_t busy_ms = 3000;  // how long the target computes
  std::int64_t limit_s = 30;    // after which the origin gives up the rest of its operations

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--window") {
        windows.push_back(window(value));
      } else if (name == "--operations") {
        operations = bench::number(name, value);
      } else if (name == "--busy-ms") {
        busy_ms = bench::number(name, value);
      } else if (name == "--limit-s") {
        limit_s = bench::number(name, value);
      } else {
        bench::fail("the option " + std::string(name) +
                    " is unknown; use --window NAME (again for more windows), --operations N, "
                    "--busy-ms MILLISECONDS, --limit-s SECONDS.");
      }
    }
    if (windows.empty()) windows = {window("allocated"), window("created")};
  }

 private:
  static exposures::Kind window(std::string_view value) {
    std::string names;
    for (const exposures::Kind& kind : exposures::kinds()) {
      if (value == kind.name) return kind;
      names += (names.empty() ? "" : ", ") + std::string(kind.name);
    }
    bench::fail("there is no window \"" + std::string(value) + "\" here; use one of " + names +
                ".");
  }
};

}  // namespace progress
